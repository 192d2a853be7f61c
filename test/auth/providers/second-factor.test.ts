import { oidc } from "portico/auth";
import { describe, expect, it } from "vitest";
import { codeAt } from "../../../scripts/clients/authenticator-app.ts";
import { clientId, clientSecret, type HostileProvider, hostileProvider } from "./hostile-provider.ts";
import { type Person, person } from "./person.ts";
import { type Shop, shop } from "./provider-harness.ts";

interface World extends Shop {
  readonly hostile: HostileProvider;
  /** Opens the sign-in with the provider, and returns where the browser arrives. */
  readonly signIn: (browser: Person) => Promise<URL>;
  readonly post: (browser: Person, path: string, body?: object) => Promise<Response>;
  readonly isSignedIn: (browser: Person) => Promise<boolean>;
  /** The provider signs ann out. */
  readonly logout: () => Promise<number>;
}

async function world(): Promise<World> {
  const hostile = await hostileProvider();
  const opened = await shop([oidc({ name: "acme", issuer: hostile.issuer, clientId, clientSecret })]);
  const { url } = opened;
  return {
    ...opened,
    hostile,
    signIn: async (browser) =>
      new URL((await browser.open(`${url}/account/providers/acme?return_to=/orders&remember=true`)).at),
    post: (browser, path, body = {}) =>
      browser.send(`${url}/account${path}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
    isSignedIn: async (browser) => (await browser.send(`${url}/account/me`)).status === 200,
    async logout() {
      const now = Math.floor(Date.now() / 1000);
      const events = { "http://schemas.openid.net/event/backchannel-logout": {} };
      const claims = { iss: hostile.issuer, aud: clientId, iat: now, exp: now + 120, jti: "once", sub: "ann", events };
      const body = new URLSearchParams({ logout_token: await hostile.signer.sign(claims, { typ: "logout+jwt" }) });
      return (await fetch(`${url}/account/providers/acme/backchannel-logout`, { method: "POST", body })).status;
    },
  };
}

/** Adds an authenticator app to the account of a signed-in browser. Returns its secret. */
async function enrol({ post }: World, browser: Person): Promise<string> {
  const { secret } = (await (await post(browser, "/factors/totp")).json()) as { secret: string };
  expect((await post(browser, "/factors/totp/confirm", { code: codeAt(secret, Date.now()) })).status).toBe(200);
  return secret;
}

describe("a user who signs in with a provider", () => {
  it("is signed out by the provider after a change of the password, which continues the session", async () => {
    const here = await world();
    const [changing, other] = [person(), person()];
    await here.signIn(changing);
    await here.signIn(other);
    const user = await here.users.objects.get({ email: "ann@acme.com" });
    const words = { current_password: "correct horse battery staple", new_password: "another battery staple" };
    if (user !== null) await here.users.objects.setPassword(user, words.current_password);
    await here.signIn(changing);
    const changed = await here.post(changing, "/password", words);
    const before = [await here.isSignedIn(changing), await here.isSignedIn(other)];

    const status = await here.logout();

    expect([changed.status, before, status]).toEqual([204, [true, false], 200]);
    expect(changed.headers.getSetCookie().join()).toContain("Max-Age=");
    expect(await here.isSignedIn(changing)).toBe(false);
  });
});

describe("a user with an authenticator app who signs in with a provider", () => {
  it("[auth:AU-237] is asked for the second factor, with everything to complete the sign-in in the fragment", async () => {
    const here = await world();
    const [first, second] = [person(), person()];
    await here.signIn(first);
    const secret = await enrol(here, first);

    const at = await here.signIn(second);
    const before = await here.isSignedIn(second);
    const { pending, methods, return_to } = Object.fromEntries(new URLSearchParams(at.hash.slice(1)));
    // The code of this step was spent on the enrolment.
    const completed = await here.post(second, "/second-factor", { pending, code: codeAt(secret, Date.now() + 30_000) });

    expect([at.pathname, at.search]).toEqual(["/sign-in", "?error=second_factor_required"]);
    expect([methods, return_to, before]).toEqual(["totp,recovery", "/orders", false]);
    expect(completed.headers.getSetCookie().join()).toContain("Max-Age=");
    expect([completed.status, await here.isSignedIn(second)]).toEqual([200, true]);
  });

  it("[auth:AU-238] is signed out by the provider, after the second factor too", async () => {
    const here = await world();
    const [first, second] = [person(), person()];
    await here.signIn(first);
    const secret = await enrol(here, first);
    const pending = new URLSearchParams((await here.signIn(second)).hash.slice(1)).get("pending");
    await here.post(second, "/second-factor", { pending, code: codeAt(secret, Date.now() + 30_000) });
    const before = [await here.isSignedIn(first), await here.isSignedIn(second)];

    const status = await here.logout();

    expect([before, status]).toEqual([[true, true], 200]);
    expect([await here.isSignedIn(first), await here.isSignedIn(second)]).toEqual([false, false]);
  });
});
