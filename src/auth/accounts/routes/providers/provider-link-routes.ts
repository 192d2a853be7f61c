import type { Router } from "../../../../http/routing/router.ts";
import { useAuth } from "../../../../kernel/access/use-auth.ts";
import { NotFound } from "../../../../kernel/exceptions/http-exception.ts";
import type { AccountHolder } from "../../account-base.ts";
import type { Accounts } from "../../ownership/accounts.ts";
import { byPerson } from "../../ownership/by-person.ts";
import { credentialGate } from "../../ownership/credential-gate.ts";
import { reportToOwner } from "../../ownership/notify-owner.ts";
import { FRESH_ERRORS } from "../../ownership/require-fresh-sign-in.ts";
import { describe, TOO_MANY } from "../../schemas/describe.ts";
import { record, records, requestBody } from "../../schemas/record-schema.ts";
import { beginProviderSignIn, NO_PROVIDER, providerNamed, UNAVAILABLE } from "./begin-provider-sign-in.ts";
import { readReturnTo } from "./read-return-to.ts";

const NewLink = requestBody({ return_to: "string?", password: "string?" });
const Begun = record({ url: "string" }, "AccountProviderSignIn");
const Links = records({ provider: "string", email: "string?", linked_at: "date" }, "AccountProviderLink");

/** `GET /providers/linked` and `DELETE /providers/:name`: list and remove links. */
export function providerLinkRoutes(router: Router, accounts: Accounts): void {
  newLinkRoute(router, accounts);
  router.get(
    "/providers/linked",
    {
      ...describe("accountListProviderLinks", "List the identity providers that are linked to the user"),
      auth: byPerson,
      response: { 200: Links },
    },
    async ({ ctx, user, response }) => {
      const links = await accounts.links(ctx).list(user.identity);
      return response.json(
        links.map(({ provider, email, at }) => ({
          provider,
          ...(email === null ? {} : { email }),
          linked_at: new Date(at).toISOString(),
        })),
      );
    },
  );
  router.delete(
    "/providers/:name",
    {
      ...describe("accountUnlinkProvider", "Unlink an identity provider from the user", {
        403: "A recent sign-in (`sign_in_again`) or a second factor (`second_factor_required`) is required. Or the caller lacks permission",
        404: "The provider is not linked to the user",
        409: "The user could not sign in any more (`last_sign_in_method`)",
      }),
      auth: useAuth({ scopes: ["session", "jwt"], freshSeconds: accounts.options.freshSeconds }),
      response: { 204: null },
    },
    async ({ ctx, user, path, response }) => {
      const { links } = accounts.change(ctx, await credentialGate(ctx, accounts, "accountUnlinkProvider"));
      if (!(await links.remove(user.identity, path.name))) throw new NotFound("The provider is not linked");
      // A provider that the application no longer has can be unlinked, too.
      const provider = accounts.options.providers.find(({ name }) => name === path.name);
      reportToOwner(ctx, accounts, user as AccountHolder, {
        kind: "provider_unlinked",
        ...(provider === undefined ? {} : { provider }),
      });
      return response.empty();
    },
  );
}

/** `POST /providers/:name/link`: begins to link a provider. */
function newLinkRoute(router: Router, accounts: Accounts): void {
  router.post(
    "/providers/:name/link",
    {
      ...describe("accountLinkProvider", "Link an identity provider to the user", {
        ...FRESH_ERRORS,
        400: "The body is not valid, or `return_to` is not a local path (`return_to_invalid`)",
        404: NO_PROVIDER,
        422: "The password is too long or contains an invalid Unicode character",
        429: TOO_MANY,
        503: UNAVAILABLE,
      }),
      description:
        "Open the returned URL in the browser. Requires a session, because the browser comes back with its cookie.",
      auth: useAuth({ scopes: ["session"] }),
      body: NewLink,
      response: { 200: Begun },
    },
    async ({ ctx, user, path, body, response }) => {
      const provider = providerNamed(accounts, path.name);
      const returnTo = readReturnTo(body.return_to);
      await credentialGate(ctx, accounts, "accountLinkProvider", body.password);
      const attempt = { provider: provider.name, returnTo, remember: false, linkTo: user.identity };
      const url = await beginProviderSignIn(ctx, accounts, provider, attempt);
      return response.json({ url: url.href });
    },
  );
}
