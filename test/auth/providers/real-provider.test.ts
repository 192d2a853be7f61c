import { memoryStores, type PorticoAppOptions } from "portico";
import { type OIDCOptions, oidc } from "portico/auth";
import { manualClock } from "portico/testing";
import { describe, expect, it } from "vitest";
import { memoryUsers } from "../accounts/memory-users.ts";
import { type Person, person } from "./person.ts";
import { type Shop, shop } from "./provider-harness.ts";
import { clientId, clientSecret, type RealProvider, realProvider } from "./real-provider.ts";

interface World extends Shop {
  readonly real: RealProvider;
  readonly me: (browser: Person) => Promise<{ status: number; email?: string; id?: string; email_verified?: boolean }>;
  readonly linked: (browser: Person) => Promise<readonly { provider: string; email: string }[]>;
}

async function world(
  options: Partial<OIDCOptions> = {},
  account: Parameters<typeof shop>[1] = {},
  app: PorticoAppOptions = {},
): Promise<World> {
  const real = await realProvider();
  const provider = oidc({ name: "acme", issuer: real.issuer, clientId, clientSecret, ...options });
  const opened = await shop([provider], account, app);
  real.serve(opened.url);
  return {
    ...opened,
    real,
    async me(browser) {
      const response = await browser.send(`${opened.url}/account/me`);
      return { status: response.status, ...((await response.json()) as object) };
    },
    linked: async (browser) =>
      (await (await browser.send(`${opened.url}/account/providers/linked`)).json()) as {
        provider: string;
        email: string;
      }[],
  };
}

const start = "/account/providers/acme?return_to=/orders%3Fpage=2";
const password = "correct horse battery staple";
const ann = { email: "ann@acme.com", username: "ann", password };

async function signedIn({ url, users }: World, isVerified = true): Promise<Person> {
  const [browser, user] = [person(), await users.objects.createUser(ann)];
  if (isVerified) await users.objects.markVerified(user);
  const response = await post(browser, `${url}/account/login`, { identifier: "ann", password });
  expect(response.status).toBe(200);
  return browser;
}

function post(browser: Person, url: string, body: unknown = {}): Promise<Response> {
  const headers = { "content-type": "application/json" };
  return browser.send(url, { method: "POST", headers, body: JSON.stringify(body) });
}

/** Begins to link, and opens the URL of the provider. */
async function link(browser: Person, url: string): Promise<string> {
  const begun = await post(browser, `${url}/account/providers/acme/link`, { return_to: "/settings" });
  expect(begun.status).toBe(200);
  return (await browser.open(((await begun.json()) as { url: string }).url)).at;
}

async function unlink(browser: Person, url: string): Promise<string> {
  const response = await browser.send(`${url}/account/providers/acme`, { method: "DELETE" });
  return response.status === 204 ? "done" : ((await response.json()) as { code: string }).code;
}

describe("a sign-in with OpenID Connect", () => {
  it("[auth:AU-277] registers a verified user the first time, and signs in the same user after that", async () => {
    const { url, me, linked, events, real } = await world();
    const [first, second] = [person(), person()];

    const { at } = await first.open(url + start);
    const registered = await me(first);
    real.people.set("ann-at-acme", { email: "renamed@acme.com", email_verified: true });
    await second.open(url + start);

    expect(at).toBe(`${url}/orders?page=2`);
    expect(registered).toMatchObject({ status: 200, email: "ann@acme.com", email_verified: true });
    expect(await me(second)).toEqual(registered);
    expect(await linked(second)).toMatchObject([{ provider: "acme", email: "ann@acme.com" }]);
    expect(events.map(({ kind }) => kind)).toEqual([
      "registered",
      "provider_linked",
      "login_succeeded",
      "login_succeeded",
    ]);
  });

  it("[auth:AU-278] is remembered only on request", async () => {
    const { url } = await world();
    const ages = async (query: string): Promise<boolean> => {
      const browser = person();
      const isCallback = (at: string): boolean => at.includes("/callback?");
      const { at } = await browser.open(`${url}/account/providers/acme${query}`, isCallback);
      const cookies = (await browser.send(at)).headers.getSetCookie();
      return cookies.some((cookie) => cookie.startsWith("__Host-portico_session=") && /max-age/i.test(cookie));
    };

    expect([await ages(""), await ages("?remember=false"), await ages("?remember=true")]).toEqual([false, false, true]);
  });

  it("[auth:AU-188] [auth:AU-279] sends PKCE, state, nonce and the exact redirect URI, and a cookie that scripts cannot read", async () => {
    const { url, real } = await world();

    const response = await person().send(`${url}/account/providers/acme`);

    const { origin, searchParams } = new URL(response.headers.get("location") ?? "");
    expect([response.status, origin]).toEqual([303, real.issuer]);
    expect(Object.fromEntries(searchParams)).toEqual({
      response_type: "code",
      client_id: clientId,
      redirect_uri: `${url}/account/providers/acme/callback`,
      scope: "openid email",
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: "S256",
    });
    expect(response.headers.getSetCookie()).toEqual([
      expect.stringMatching(
        /^__Host-portico_provider=[\w-]{43}; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
      ),
    ]);
  });

  it.each([
    [
      "an address that is not verified",
      { email: "new@acme.com", email_verified: false },
      "provider_email_not_verified",
    ],
    ["no address", {} as never, "provider_email_not_verified"],
    ["text that is not an address", { email: "a b@acme", email_verified: true }, "provider_email_not_verified"],
  ])("registers no user with %s", async (_, claims, code) => {
    const { url, real, me, events } = await world();
    real.people.set("ann-at-acme", claims);
    const browser = person();

    const { at } = await browser.open(url + start);

    expect(at).toBe(`${url}/sign-in?error=${code}`);
    expect((await me(browser)).status).toBe(401);
    expect(events.map(({ kind }) => kind)).toEqual(["provider_sign_in_failed"]);
  });

  it("[auth:AU-196] registers no user with signUp: false, and returns to the sign-in page of the options", async () => {
    const { url } = await world({ signUp: false }, { signInPage: "/settings" });

    expect((await person().open(url + start)).at).toBe(`${url}/settings?error=sign_up_disabled`);
  });

  it("[auth:AU-197] never signs in a user who only has the same email address", async () => {
    const opened = await world();
    const browser = await signedIn(opened);
    const stranger = person();

    const { at } = await stranger.open(opened.url + start);

    expect(at).toBe(`${opened.url}/sign-in?error=provider_link_required`);
    expect((await opened.me(stranger)).status).toBe(401);
    expect(await opened.linked(browser)).toEqual([]);
  });

  it("[auth:AU-198] links a user with the same address only with linkVerifiedEmail, and only if both have verified it", async () => {
    const attempt = async (isVerified: boolean, isVerifiedThere: boolean): Promise<string> => {
      const opened = await world({ linkVerifiedEmail: true });
      await signedIn(opened, isVerified);
      opened.real.people.set("ann-at-acme", { email: "Ann@Acme.com", email_verified: isVerifiedThere });
      return (await person().open(opened.url + start)).at.slice(opened.url.length);
    };

    expect(await attempt(true, true)).toBe("/orders?page=2");
    expect(await attempt(false, true)).toBe("/sign-in?error=provider_link_required");
    expect(await attempt(true, false)).toBe("/sign-in?error=provider_email_not_verified");
  });

  it("[auth:AU-199] rejects a user who was disabled", async () => {
    const { url, users, me } = await world();
    const browser = person();
    await browser.open(url + start);
    const user = await users.objects.get({ email: "ann@acme.com" });
    if (user === null) throw new Error("no user");

    await users.objects.disable(user);

    expect((await person().open(url + start)).at).toBe(`${url}/sign-in?error=account_disabled`);
    expect((await me(browser)).status).toBe(401);
  });

  it("[auth:AU-200] registers a new user for the account of a user who was deleted", async () => {
    const users = memoryUsers();
    const deleted = new Set<string>();
    const { url, me, real } = await world(
      {},
      {
        userModel: {
          loadUser: async (id) => (deleted.has(id) ? null : users.loadUser(id)),
          objects: {
            ...users.objects,
            get: async (key) => ("id" in key && deleted.has(key.id) ? null : users.objects.get(key)),
          },
        },
      },
    );
    const [before, after] = [person(), person()];
    await before.open(url + start);
    const { id = "" } = await me(before);

    deleted.add(id);
    real.people.set("ann-at-acme", { email: "back@acme.com", email_verified: true });
    await after.open(url + start);

    expect(await me(after)).toMatchObject({ status: 200, email: "back@acme.com" });
    expect((await me(after)).id).not.toBe(id);
  });

  it("[auth:AU-201] with verifyEmail sends a link to an unverified user, unless the provider has verified the same address", async () => {
    const signInStrictly = async (email: string): Promise<readonly [string, number]> => {
      const stores = memoryStores();
      // Without a mailer, a provider can be linked before the address is verified.
      const lenient = await world({}, { mailer: undefined as never }, { stores });
      const user = await lenient.users.objects.createUser({ ...ann, email });
      const browser = person();
      await post(browser, `${lenient.url}/account/login`, { identifier: "ann", password });
      await link(browser, lenient.url);
      const options = { name: "acme", issuer: lenient.real.issuer, clientId, clientSecret };
      const strict = await shop([oidc(options)], { userModel: lenient.users, verifyEmail: true }, { stores });
      lenient.real.serve(strict.url);
      const { at } = await person().open(strict.url + start);
      await expect
        .poll(async () => strict.mails.length > 0 || (await lenient.users.loadUser(user.identity))?.isVerified)
        .toBe(true);
      return [at.slice(strict.url.length), strict.mails.length];
    };

    expect(await signInStrictly("elsewhere@example.org")).toEqual(["/sign-in?error=email_not_verified", 1]);
    expect(await signInStrictly("ann@acme.com")).toEqual(["/orders?page=2", 0]);
  });

  it("[auth:AU-202] accepts only addresses of its domains with domainsOnly", async () => {
    const { url, real } = await world({ domains: ["ACME.com"], domainsOnly: true });

    const accepted = await person().open(url + start);
    real.people.set("bob", { email: "bob@example.org", email_verified: true });
    real.people.set("eve", { email: "eve@acme.com", email_verified: false });
    real.who = "bob";
    const bob = await person().open(url + start);
    real.who = "eve";
    const eve = await person().open(url + start);

    expect(accepted.at).toBe(`${url}/orders?page=2`);
    expect([bob.at, eve.at]).toEqual(Array(2).fill(`${url}/sign-in?error=provider_email_refused`));
  });
});

describe("the list of providers", () => {
  it("[auth:AU-203] names all of them, or those responsible for an address", async () => {
    const { url } = await world({ domains: ["acme.com"] });
    const list = async (query: string): Promise<unknown> => (await fetch(`${url}/account/providers${query}`)).json();

    expect(await list("")).toEqual([{ name: "acme" }]);
    expect(await list("?email=Ann@ACME.com")).toEqual([{ name: "acme" }]);
    expect(await list("?email=ann@acme.com.evil.example")).toEqual([]);
    expect(await list("?email=acme.com")).toEqual([]);
  });
});

describe("a link to a provider", () => {
  it("[auth:AU-204] is made by a signed-in user, signs in that user, and is removed", async () => {
    const opened = await world();
    const { url, me, linked, events, mails } = opened;
    const browser = await signedIn(opened);
    const other = person();

    expect(await link(browser, url)).toBe(`${url}/settings`);
    await other.open(url + start);

    expect((await me(other)).id).toBe((await me(browser)).id);
    expect(await linked(browser)).toMatchObject([{ provider: "acme", email: "ann@acme.com" }]);
    expect(await unlink(browser, url)).toBe("done");
    expect(await unlink(browser, url)).toBe("not_found");
    expect(await linked(browser)).toEqual([]);
    expect((await person().open(url + start)).at).toBe(`${url}/sign-in?error=provider_link_required`);
    expect(events.map(({ kind }) => kind)).toContain("provider_unlinked");
    const notices = (): unknown => mails.filter(({ provider }) => provider === "acme").map(({ kind }) => kind);
    await expect.poll(notices).toEqual(["provider_linked", "provider_unlinked"]);
  });

  it("[auth:AU-205] requires a session, a recent sign-in and a local path to return to", async () => {
    const clock = manualClock(Date.now());
    const opened = await world({}, { freshSeconds: 600 }, { clock });
    const browser = await signedIn(opened);
    const begin = async (who: Person, body: object): Promise<unknown> => {
      const response = await post(who, `${opened.url}/account/providers/acme/link`, body);
      return [response.status, ((await response.json()) as { code?: string }).code];
    };

    expect(await begin(person(), {})).toEqual([401, "unauthenticated"]);
    expect(await begin(browser, { return_to: "//evil.example" })).toEqual([400, "return_to_invalid"]);
    expect(await begin(browser, {})).toEqual([200, undefined]);
    clock.advance(601_000);
    expect(await begin(browser, {})).toEqual([403, "sign_in_again"]);
    expect(await unlink(browser, opened.url)).toBe("sign_in_again");
    expect(await begin(browser, { password })).toEqual([200, undefined]);
  });

  it("[auth:AU-206] is not made for another user than the one who began", async () => {
    const opened = await world();
    const { url, users, linked } = opened;
    const browser = await signedIn(opened);
    await users.objects.createUser({ email: "bob@example.org", username: "bob", password });
    const begun = await post(browser, `${url}/account/providers/acme/link`);
    const { at } = await browser.open(((await begun.json()) as { url: string }).url, (to) => to.includes("/callback?"));

    await post(browser, `${url}/account/login`, { identifier: "bob", password });
    const end = await browser.open(at);

    expect(end.at).toBe(`${url}/?error=unauthenticated`);
    expect(await linked(browser)).toEqual([]);
  });

  it("[auth:AU-207] is refused for an account that another user has linked, and for a second account of the provider", async () => {
    const opened = await world();
    const { url, users, real } = opened;
    const browser = await signedIn(opened);
    await link(browser, url);
    await users.objects.markVerified(
      await users.objects.createUser({ email: "bob@example.org", username: "bob", password }),
    );
    const bob = person();
    await post(bob, `${url}/account/login`, { identifier: "bob", password });

    const taken = await link(bob, url);
    real.who = "another";
    real.people.set("another", { email: "x@acme.com", email_verified: true });
    browser.cookies.delete(new URL(real.issuer).host);
    const second = await link(browser, url);

    expect([taken, second]).toEqual(Array(2).fill(`${url}/settings?error=provider_already_linked`));
  });

  it("[auth:AU-208] stays while it is the only way to sign in, until a password was set by a reset", async () => {
    const { url, mails } = await world();
    const browser = person();
    await browser.open(url + start);

    const before = await unlink(browser, url);
    await post(browser, `${url}/account/password/reset`, { email: "ann@acme.com" });
    await expect.poll(() => mails.length).toBe(1);
    const token = new URL(mails[0]?.url ?? "").searchParams.get("token");
    const reset = await post(browser, `${url}/account/password/reset/confirm`, { token, password });
    await browser.open(url + start);

    expect([before, reset.status]).toEqual(["last_sign_in_method", 204]);
    expect(await unlink(browser, url)).toBe("done");
  });
});

describe("a back-channel logout of the provider", () => {
  it("[auth:AU-209] ends the sessions and sockets that were started with it, and no others", async () => {
    const opened = await world();
    const { url, real, me } = opened;
    const byPassword = await signedIn(opened);
    await link(byPassword, url);
    const byProvider = person();
    await byProvider.open(url + start);
    const host = new URL(url).host;
    const cookie = `__Host-portico_session=${byProvider.cookies.get(host)?.get("__Host-portico_session")}`;
    const socket = new WebSocket(`${url.replace("http", "ws")}/live`, { headers: { cookie } } as never);
    await new Promise((resolve) => socket.addEventListener("open", resolve, { once: true }));
    const closed = new Promise<number>((resolve) => socket.addEventListener("close", ({ code }) => resolve(code)));

    const provider = real.serve(url);
    const client = await provider.Client.find(clientId);
    await (client as unknown as { backchannelLogout(sub: string): Promise<void> }).backchannelLogout("ann-at-acme");

    expect(await closed).toBe(4403);
    expect((await me(byProvider)).status).toBe(401);
    expect((await me(byPassword)).status).toBe(200);
    expect(opened.events.map(({ kind }) => kind)).toContain("provider_logged_out");
  });
});
