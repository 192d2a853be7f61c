import type { Router } from "../../../http/routing/router.ts";
import { type PlainText, withoutControls } from "../../../http/text/plain-text.ts";
import { useAuth } from "../../../kernel/access/use-auth.ts";
import { NotFound } from "../../../kernel/exceptions/http-exception.ts";
import type { PasskeyFactor } from "../../factors/factor-record.ts";
import type { AccountHolder, KnownPasskeys } from "../account-base.ts";
import { InvalidPasskey } from "../invalid-second-factor.ts";
import type { Accounts } from "../ownership/accounts.ts";
import { byPerson } from "../ownership/by-person.ts";
import { credentialGate } from "../ownership/credential-gate.ts";
import { reportToOwner } from "../ownership/notify-owner.ts";
import { FRESH_ERRORS } from "../ownership/require-fresh-sign-in.ts";
import { STRONG_ERRORS } from "../ownership/require-level.ts";
import { describe, NOT_OWNED, TOO_MANY } from "../schemas/describe.ts";
import { record, records, requestBody } from "../schemas/record-schema.ts";
import { passkeyCall } from "./passkey-call.ts";
import { passkeySignInRoutes } from "./passkey-sign-in-routes.ts";

const passkey = {
  id: "string",
  name: "string",
  created_at: "date",
  last_used_at: "date | null",
  syncable: "boolean",
  backed_up: "boolean",
} as const;
const PasskeyList = records(passkey, "AccountPasskey");
const PasskeyCreation = record({ options: "creation" }, "AccountPasskeyCreation");
const CreatedPasskey = record(
  {
    ...passkey,
    recovery_codes: "strings?",
    access_token: "string?",
    token_type: "string?",
    expires_in: "integer?",
    refresh_token: "string?",
  },
  "AccountCreatedPasskey",
);

const MAX_NAME_LENGTH = 100;

/** The routes of passkeys: to add, list, rename and remove them, and to sign in with one. */
export function passkeyRoutes(router: Router, accounts: Accounts, passkeys: KnownPasskeys): void {
  passkeySignInRoutes(router, accounts, passkeys);
  addPasskey(router, accounts, passkeys);
  router.get(
    "/passkeys",
    { ...describe("accountListPasskeys", "List the passkeys"), auth: byPerson, response: { 200: PasskeyList } },
    async ({ ctx, user, response }) => {
      const { passkeys: list = [] } = await accounts.factors.get(accounts.store(ctx), user.identity);
      return response.json(list.map(passkeyOf));
    },
  );
  router.patch(
    "/passkeys/:id",
    {
      ...describe("accountRenamePasskey", "Rename a passkey", { 404: "The user has no such passkey" }),
      auth: byPerson,
      body: requestBody({ name: "string" }),
      response: { 204: null },
    },
    async ({ ctx, user, path, body, response }) => {
      if (!(await passkeys.rename(accounts.store(ctx), user.identity, path.id, nameOf(body.name))))
        throw new NotFound("Passkey not found");
      return response.empty();
    },
  );
  router.delete(
    "/passkeys/:id",
    {
      ...describe("accountRemovePasskey", "Remove a passkey", STRONG_ERRORS),
      auth: useAuth({ scopes: ["session", "jwt"], level: "mfa", freshSeconds: accounts.options.freshSeconds }),
      response: { 204: null },
    },
    async ({ ctx, user, path, response }) => {
      const { passkeys } = accounts.change(ctx, await credentialGate(ctx, accounts, "accountRemovePasskey"));
      if (!(await passkeys?.remove(accounts.store(ctx), user.identity, path.id)))
        throw new NotFound("Passkey not found");
      reportToOwner(ctx, accounts, user as AccountHolder, { kind: "passkey_removed" });
      return response.empty();
    },
  );
}

/** `POST /passkeys/options` and `POST /passkeys`. */
function addPasskey(router: Router, accounts: Accounts, known: KnownPasskeys): void {
  router.post(
    "/passkeys/options",
    {
      ...describe("accountPasskeyOptions", "Begin to add a passkey", { ...FRESH_ERRORS, 429: TOO_MANY }),
      description: "Pass `options` to `navigator.credentials.create()`, and its result to `POST /passkeys`.",
      auth: byPerson,
      body: requestBody({ password: "string?" }),
      response: { 200: PasskeyCreation },
    },
    async ({ ctx, user, body, response }) => {
      await credentialGate(ctx, accounts, "accountPasskeyOptions", body.password);
      const call = passkeyCall(ctx, accounts, known);
      return response.json({ options: await known.registrationOptions(call, user as AccountHolder) });
    },
  );
  router.post(
    "/passkeys",
    {
      ...describe("accountAddPasskey", "Add a passkey", {
        401: "The caller is not signed in, or the passkey could not be verified (`invalid_passkey`)",
        403: NOT_OWNED,
      }),
      description:
        "If it is the first second factor of the user, the response contains recovery codes, only once. The session is then raised to two factors, and all others end. A caller who uses a token gets new tokens.",
      auth: byPerson,
      body: requestBody({ name: "string?", credential: "registration" }),
      response: { 201: CreatedPasskey },
    },
    async ({ ctx, user, body, response }) => {
      const grant = await credentialGate(ctx, accounts, "accountAddPasskey");
      const { passkeys } = accounts.change(ctx, grant);
      const made = await passkeys?.register(passkeyCall(ctx, accounts, known), user as AccountHolder, body.credential, {
        name: nameOf(body.name),
        now: ctx.services.clock.now(),
      });
      if (made === undefined || made === null) throw new InvalidPasskey();
      // With its first passkey, the browser has verified the user.
      const tokens = made.recovery === null ? null : await accounts.revocation.endWeaker(ctx, grant.user.identity);
      reportToOwner(ctx, accounts, user as AccountHolder, { kind: "passkey_added" });
      if (made.recovery !== null) accounts.report(ctx, "recovery_codes_created", user.identity);
      const codes = made.recovery === null ? {} : { recovery_codes: made.recovery };
      return response.status(201).json({ ...passkeyOf(made.passkey), ...tokens, ...codes });
    },
  );
}

/** Cleaned instead of refused: the passkey has been created already. */
function nameOf(given = ""): PlainText {
  return withoutControls(withoutControls(given, MAX_NAME_LENGTH) || "Passkey", MAX_NAME_LENGTH);
}

function passkeyOf({ id, name, createdAt, lastUsedAt, isSyncable, isBackedUp }: PasskeyFactor): {
  readonly id: string;
  readonly name: string;
  readonly created_at: string;
  readonly last_used_at: string | null;
  readonly syncable: boolean;
  readonly backed_up: boolean;
} {
  return {
    id,
    name,
    created_at: new Date(createdAt).toISOString(),
    last_used_at: lastUsedAt === null ? null : new Date(lastUsedAt).toISOString(),
    syncable: isSyncable,
    backed_up: isBackedUp,
  };
}
