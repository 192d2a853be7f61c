import type { Router } from "../../../../http/routing/router.ts";
import type { HttpContext } from "../../../../kernel/context/http-context.ts";
import { discard } from "../../../../stores/revoke.ts";
import type { LogoutNotice } from "../../../providers/identity-provider.ts";
import { LOGOUT_TOKEN_SECONDS, LogoutTokenInvalid } from "../../../providers/logout-tokens.ts";
import { ProviderSessions } from "../../../providers/provider-sessions.ts";
import { sha256 } from "../../../records/sha256.ts";
import type { Accounts } from "../../ownership/accounts.ts";
import { runEach } from "../../run-each.ts";
import { describe } from "../../schemas/describe.ts";
import { providerNamed } from "./begin-provider-sign-in.ts";

/**
 * `POST /providers/:name/backchannel-logout`: a provider ends the sessions that were started with it. The OpenAPI
 * document leaves it out, because only providers call it, as OpenID Connect Back-Channel Logout specifies.
 */
export function providerLogoutRoute(router: Router, accounts: Accounts): void {
  router.post(
    "/providers/:name/backchannel-logout",
    { ...describe("accountProviderLogout", "End the sessions of a provider"), openapi: false },
    async ({ ctx, path, request, response }) => {
      const provider = providerNamed(accounts, path.name);
      await accounts.limitAddress(ctx, "provider-logout", { limit: 600, windowSeconds: 60 });
      const token = (await request.form()).get("logout_token");
      if (typeof token !== "string") throw new LogoutTokenInvalid();
      await endSessions(ctx, accounts, await provider.logoutNotice(ctx.services, token));
      return response.status(200).empty();
    },
  );
}

async function endSessions(ctx: HttpContext, accounts: Accounts, notice: LogoutNotice): Promise<void> {
  const store = accounts.store(ctx);
  const key = `logout-token:${sha256(JSON.stringify([notice.issuer, notice.jti]))}`;
  // Kept twice as long as the token is accepted, because clocks differ.
  if (!(await store.setIfAbsent(key, "", 2 * LOGOUT_TOKEN_SECONDS * 1000))) throw new LogoutTokenInvalid();
  try {
    const sessions = await new ProviderSessions(store, ctx.services.clock).named(notice);
    await runEach(
      sessions.map(
        ({ user, handle }) =>
          () =>
            accounts.revocation.endSession(ctx, user, handle),
      ),
    );
    for (const user of new Set(sessions.map((session) => session.user)))
      accounts.report(ctx, "provider_logged_out", user);
  } catch (error) {
    // The provider may send the token again.
    await discard(store, key);
    throw error;
  }
}
