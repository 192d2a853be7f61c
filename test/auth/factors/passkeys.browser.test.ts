import { describe, expect, it } from "vitest";
import { isBrowserMissing } from "../../browser.ts";
import { type Answer, credentials, type PasskeyBrowser, passkeyBrowser } from "./passkey-browser.ts";

const INVALID = { status: 401, body: { code: "invalid_passkey" } };

/** Signs in with the password, and adds a passkey. */
async function addPasskey({ send, create }: PasskeyBrowser, name = "Laptop"): Promise<Answer> {
  const { body } = await send("POST", "/account/passkeys/options", {});
  return send("POST", "/account/passkeys", { name, credential: await create(body["options"]) });
}

async function signIn({ send, get }: PasskeyBrowser, more: object = {}): Promise<Answer> {
  const { body } = await send("POST", "/account/passkeys/sign-in/options");
  return send("POST", "/account/passkeys/sign-in", { credential: await get(body["options"]), ...more });
}

// A browser may start slowly on a busy machine.
describe.skipIf(isBrowserMissing)("passkeys in Chromium", () => {
  it("[auth:AU-257] are added after a sign-in, and sign in without a name, with two factors", async () => {
    const browser = await passkeyBrowser();
    const { send, events } = browser;
    await send("POST", "/account/login", credentials);
    expect(await send("GET", "/payout")).toMatchObject({ status: 403 });

    const added = await addPasskey(browser);
    expect(added).toMatchObject({ status: 201, body: { name: "Laptop", last_used_at: null, backed_up: false } });
    expect(added.body["recovery_codes"]).toHaveLength(10);
    await send("POST", "/account/logout");
    expect(await send("GET", "/account/me")).toMatchObject({ status: 401 });

    expect(await signIn(browser)).toMatchObject({ status: 200, body: { email: credentials.identifier } });
    expect(await send("GET", "/payout")).toMatchObject({ status: 200 });
    const { body: list } = await send("GET", "/account/passkeys");
    expect(list).toMatchObject([{ name: "Laptop", last_used_at: expect.any(String) }]);
    expect(events.map(({ kind }) => kind)).toContain("passkey_added");

    const { access_token } = (await signIn(browser, { tokens: true })).body as { access_token: string };
    const byToken = { authorization: `Bearer ${access_token}` };
    expect(await send("GET", "/payout", undefined, byToken)).toMatchObject({ status: 200 });
  });

  it("[auth:AU-258] are the second factor of a sign-in with a password, and raise a session", async () => {
    const browser = await passkeyBrowser();
    const { send, get } = browser;
    await send("POST", "/account/login", credentials);
    await addPasskey(browser);

    const raise = (await send("POST", "/account/second-factor/options", {})).body["options"];
    expect(await send("POST", "/account/second-factor", { credential: await get(raise) })).toMatchObject({
      status: 200,
    });
    expect(await send("GET", "/payout")).toMatchObject({ status: 200 });
    await send("POST", "/account/logout");

    const { status, body } = await send("POST", "/account/login", credentials);
    const { pending, methods } = body;
    expect([status, methods]).toEqual([403, ["passkey", "recovery"]]);
    const { options } = (await send("POST", "/account/second-factor/options", { pending })).body;
    const credential = await get(options);
    expect(await send("POST", "/account/second-factor", { pending, credential })).toMatchObject({ status: 200 });
    expect(await send("GET", "/payout")).toMatchObject({ status: 200 });
  });

  it("[auth:AU-189] [auth:AU-259] refuse a response that is sent again, or for another challenge, purpose or browser", async () => {
    const browser = await passkeyBrowser();
    const { send, get, page } = browser;
    await send("POST", "/account/login", credentials);
    await addPasskey(browser);
    const begin = async (): Promise<unknown> =>
      (await send("POST", "/account/passkeys/sign-in/options")).body["options"];
    const finish = (credential: object): Promise<Answer> => send("POST", "/account/passkeys/sign-in", { credential });

    const first = await get(await begin());
    expect(await finish(first)).toMatchObject({ status: 200 });
    expect(await finish(first)).toMatchObject(INVALID);

    const older = await get(await begin());
    await begin();
    expect(await finish(older)).toMatchObject(INVALID);

    const forSignIn = await get(await begin());
    expect(await send("POST", "/account/second-factor", { credential: forSignIn })).toMatchObject(INVALID);

    const elsewhere = await get(await begin());
    await page.context().clearCookies();
    expect(await finish(elsewhere)).toMatchObject(INVALID);
    expect(await finish({ id: "x", response: { clientDataJSON: "e30" } })).toMatchObject(INVALID);
    expect(await finish({})).toMatchObject(INVALID);
  });

  it("[auth:AU-189] [auth:AU-260] refuse a passkey whose counter went backwards, and one without user verification", async () => {
    const browser = await passkeyBrowser();
    const { send, devices, authenticatorId, get } = browser;
    await send("POST", "/account/login", credentials);
    await addPasskey(browser);
    const { credentials: kept } = await devices.send("WebAuthn.getCredentials", { authenticatorId });
    expect(await signIn(browser)).toMatchObject({ status: 200 });

    await devices.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: false });
    const { body } = await send("POST", "/account/passkeys/sign-in/options");
    const lax = { ...(body["options"] as object), userVerification: "discouraged" };
    const unverified = await get(lax);
    expect(await send("POST", "/account/passkeys/sign-in", { credential: unverified })).toMatchObject(INVALID);
    await devices.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: true });
    expect(await signIn(browser)).toMatchObject({ status: 200 });

    const copy = kept[0] as (typeof kept)[number];
    await devices.send("WebAuthn.clearCredentials", { authenticatorId });
    await devices.send("WebAuthn.addCredential", { authenticatorId, credential: { ...copy, signCount: 1 } });
    expect(await signIn(browser)).toMatchObject(INVALID);
  });

  it("[auth:AU-261] are renamed, removed only with two factors, and do not sign in after that", async () => {
    const browser = await passkeyBrowser();
    const { send, get } = browser;
    await send("POST", "/account/login", credentials);
    const { id } = (await addPasskey(browser)).body as { id: string };
    const remove = (): Promise<Answer> => send("DELETE", `/account/passkeys/${id}`);
    const rename = (): Promise<Answer> => send("PATCH", `/account/passkeys/${id}`, { name: "Desk" });
    expect(await rename()).toMatchObject({ status: 204 });
    expect((await send("GET", "/account/passkeys")).body).toMatchObject([{ id, name: "Desk" }]);
    const { options } = (await send("POST", "/account/passkeys/sign-in/options")).body;

    const late = await get(options);
    await send("POST", "/account/logout");
    // With the password alone there is no session that could remove it.
    expect(await send("POST", "/account/login", credentials)).toMatchObject({ status: 403 });
    expect(await remove()).toMatchObject({ status: 401 });
    await signIn(browser);
    expect(await remove()).toMatchObject({ status: 204 });
    expect(await remove()).toMatchObject({ status: 404 });
    expect(await rename()).toMatchObject({ status: 404 });
    expect(await send("POST", "/account/passkeys/sign-in", { credential: late })).toMatchObject(INVALID);
    expect(await signIn(browser)).toMatchObject(INVALID);
    expect(await send("POST", "/account/login", credentials)).toMatchObject({ status: 200 });
  });
});
