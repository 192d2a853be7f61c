import type { Router } from "../../../http/routing/router.ts";
import type { SchemaInput, SchemaOutput } from "../../../http/routing/schema.ts";
import { plainText } from "../../../http/text/plain-text.ts";
import { useAuth } from "../../../kernel/access/use-auth.ts";
import { NotFound, ValidationFailed } from "../../../kernel/exceptions/http-exception.ts";
import type { APIKey } from "../../api-keys/api-key.ts";
import { MAX_NAME_LENGTH } from "../../api-keys/api-keys-options.ts";
import type { Accounts } from "../ownership/accounts.ts";
import { byPerson } from "../ownership/by-person.ts";
import { credentialGate } from "../ownership/credential-gate.ts";
import { FRESH_ERRORS } from "../ownership/require-fresh-sign-in.ts";
import { describe, NOT_OWNED, TOO_MANY } from "../schemas/describe.ts";
import { record, records, requestBody } from "../schemas/record-schema.ts";

const NewKey = requestBody({
  name: "string?",
  permissions: "strings?",
  expires_in: "integer?",
  password: "string?",
});
const key = {
  id: "string",
  name: "string",
  prefix: "string",
  last_four: "string",
  permissions: "strings | null",
  created_at: "date",
  expires_at: "date | null",
  last_used_at: "date | null",
} as const;
const Keys = records(key, "AccountKey");
const CreatedKey = record({ ...key, key: "string" }, "AccountCreatedKey");
type NewKeyBody = SchemaOutput<typeof NewKey, never>;

/** `POST /keys`, `GET /keys` and `DELETE /keys/:id`: manage API keys. An API key cannot create others. */
export function keyRoutes(router: Router, accounts: Accounts): void {
  const keys = accounts.keys;
  router.post(
    "/keys",
    {
      ...describe("accountCreateKey", "Create an API key", {
        ...FRESH_ERRORS,
        403: `${FRESH_ERRORS[403]}. ${NOT_OWNED}`,
        409: "The user has as many API keys as allowed",
        422: "The name, the permissions, the lifetime or the password is not valid",
        429: TOO_MANY,
      }),
      description: "The key itself is returned only once.",
      auth: useAuth(),
      body: NewKey,
      response: { 201: CreatedKey },
    },
    async ({ ctx, user, body, response }) => {
      const grant = await credentialGate(ctx, accounts, "accountCreateKey", body.password);
      checkKey(body);
      const { key, ...made } = await accounts.change(ctx, grant).keys.create(user, {
        ...(body.name === undefined ? {} : { name: body.name }),
        ...(body.permissions === undefined ? {} : { permissions: body.permissions }),
        ...(body.expires_in === undefined ? {} : { expiresInSeconds: body.expires_in }),
      });
      accounts.report(ctx, "api_key_created", user.identity);
      return response.status(201).json({ ...keyOf(made), key });
    },
  );
  router.get(
    "/keys",
    { ...describe("accountListKeys", "List the API keys"), auth: byPerson, response: { 200: Keys } },
    async ({ user, response }) => response.json((await keys.list(user)).map(keyOf)),
  );
  router.delete(
    "/keys/:id",
    {
      ...describe("accountRevokeKey", "Revoke an API key", { 404: "The user has no API key with this id" }),
      auth: byPerson,
      response: { 204: null },
    },
    async ({ ctx, user, path, response }) => {
      if (!(await keys.revoke(user, path.id))) throw new NotFound("API key not found");
      accounts.report(ctx, "api_key_revoked", user.identity);
      return response.empty();
    },
  );
}

const MAX_SECONDS = 3_153_600_000;

/** Returns 422 for values that `keys.create` would reject with a `ConfigurationError`. */
function checkKey({ name = "", permissions = [], expires_in = 1 }: NewKeyBody): void {
  const wrong = [
    plainText(name, MAX_NAME_LENGTH) === null &&
      issue("name", `must be at most ${MAX_NAME_LENGTH} characters long, without control characters`),
    permissions.includes("") && issue("permissions", "must not contain an empty permission"),
    (expires_in < 1 || expires_in > MAX_SECONDS) && issue("expires_in", `must be from 1 to ${MAX_SECONDS} seconds`),
  ].filter((entry) => entry !== false);
  if (wrong.length > 0) throw new ValidationFailed("body", wrong);
}

function issue(member: string, message: string): { readonly message: string; readonly path: readonly string[] } {
  return { path: [member], message };
}

function keyOf({
  id,
  name,
  prefix,
  lastFour,
  permissions,
  createdAt,
  expiresAt,
  lastUsedAt,
}: APIKey): SchemaInput<typeof Keys>[number] {
  return {
    id,
    name,
    prefix,
    last_four: lastFour,
    permissions,
    created_at: createdAt.toISOString(),
    expires_at: expiresAt?.toISOString() ?? null,
    last_used_at: lastUsedAt?.toISOString() ?? null,
  };
}
