import { useAuth } from "../../../http/access/use-auth.ts";
import { NotFound } from "../../../http/exceptions/http-exception.ts";
import type { Router } from "../../../http/routing/router.ts";
import type { PasskeyFactor } from "../../factors/factor-record.ts";
import type { Passkeys } from "../../factors/passkeys.ts";
import type { AccountHolder, Accounts } from "../accounts.ts";
import { InvalidPasskey } from "../invalid-second-factor.ts";
import { reportToOwner } from "../notify-owner.ts";
import { byPerson } from "./by-person.ts";
import { describe, TOO_MANY } from "./describe.ts";
import { passkeyCall } from "./passkey-call.ts";
import { passkeySignInRoutes } from "./passkey-sign-in-routes.ts";
import { record, records, requestBody } from "./record-schema.ts";
import { FRESH_ERRORS, requireFreshSignIn } from "./require-fresh-sign-in.ts";
import { requireLevel, STRONG_ERRORS } from "./require-level.ts";

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
const CreatedPasskey = record({ ...passkey, recovery_codes: "strings?" }, "AccountCreatedPasskey");

const LONGEST_NAME = 100;

/** The routes of passkeys: to add, list, rename and remove them, and to sign in with one. */
export function passkeyRoutes(router: Router, accounts: Accounts, passkeys: Passkeys): void {
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
      auth: useAuth({ scopes: ["session", "jwt"], level: "mfa", freshWithin: accounts.options.freshSeconds }),
      response: { 204: null },
    },
    async ({ ctx, user, path, response }) => {
      if (!(await passkeys.remove(accounts.store(ctx), user.identity, path.id)))
        throw new NotFound("Passkey not found");
      reportToOwner(ctx, accounts, user as AccountHolder, { kind: "passkey_removed" });
      return response.empty();
    },
  );
}

/** `POST /passkeys/options` and `POST /passkeys`. */
function addPasskey(router: Router, accounts: Accounts, passkeys: Passkeys): void {
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
      await requireFreshSignIn(ctx, accounts, user as AccountHolder, body.password);
      await requireLevel(ctx, accounts, user.identity);
      const call = passkeyCall(ctx, accounts, passkeys);
      return response.json({ options: await passkeys.registrationOptions(call, user as AccountHolder) });
    },
  );
  router.post(
    "/passkeys",
    {
      ...describe("accountAddPasskey", "Add a passkey", {
        401: "The caller is not signed in, or the passkey could not be verified (`invalid_passkey`)",
      }),
      description: "If it is the first second factor of the user, the response contains recovery codes, only once.",
      auth: byPerson,
      body: requestBody({ name: "string?", credential: "registration" }),
      response: { 201: CreatedPasskey },
    },
    async ({ ctx, user, body, response }) => {
      await requireLevel(ctx, accounts, user.identity);
      const made = await passkeys.register(
        passkeyCall(ctx, accounts, passkeys),
        user as AccountHolder,
        body.credential,
        { name: nameOf(body.name), now: ctx.services.clock.now() },
      );
      if (made === null) throw new InvalidPasskey();
      reportToOwner(ctx, accounts, user as AccountHolder, { kind: "passkey_added" });
      if (made.recovery !== null) accounts.report(ctx, "recovery_codes_created", user.identity);
      const codes = made.recovery === null ? {} : { recovery_codes: made.recovery };
      return response.status(201).json({ ...passkeyOf(made.passkey), ...codes });
    },
  );
}

function nameOf(given = ""): string {
  return given.slice(0, LONGEST_NAME) || "Passkey";
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
