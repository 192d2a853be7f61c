import { memoryStores } from "portico";
import type { AccountUser } from "portico/auth";
import { describe, expect, it, vi } from "vitest";
import { cookieHeader } from "../../sign-in.ts";
import { memoryUsers } from "../accounts/memory-users.ts";
import { bearer, type Tokens } from "./factor-harness.ts";
import { optionsIn, type PasskeyHarness, passkeyHarness } from "./passkey-harness.ts";
import { type Deviation, SoftwareAuthenticator } from "./software-authenticator.ts";

const INVALID = { code: "invalid_passkey" };

/** An application in which ann has one passkey. */
async function withPasskey(options: Parameters<typeof passkeyHarness>[0] = {}, deviation: Deviation = {}) {
  const harness: PasskeyHarness = await passkeyHarness(options);
  const passkey = new SoftwareAuthenticator({ isSyncable: true });
  const added = await harness.add(await harness.byPassword(), passkey, { deviation });
  expect(added.status).toBe(201);
  return { ...harness, passkey };
}

describe("a sign-in with a passkey", () => {
  it("begins with options that name no user, and a cookie for five minutes", async () => {
    const { post } = await withPasskey();
    const begun = await post("/passkeys/sign-in/options");

    expect(optionsIn(begun)).toMatchObject({ rpId: "shop.example", timeout: 300_000, userVerification: "required" });
    expect(optionsIn(begun)).not.toHaveProperty("allowCredentials");
    expect(begun.cookies).toEqual([expect.stringMatching(/^__Host-portico_passkey=[\w-]{43}; Max-Age=300;/)]);
  });

  it("starts a session with two factors, or returns tokens, and is reported", async () => {
    const { signIn, passkey, client, events } = await withPasskey();
    const browser = await signIn(passkey);
    const script = await signIn(passkey, {}, { tokens: true });

    expect(browser.json()).toMatchObject({ email: "ann@example.org" });
    expect(browser.cookies.join()).not.toMatch(/portico_session=[^;]+; Max-Age/);
    expect(browser.cookies.join()).toContain("__Host-portico_passkey=; Max-Age=0");
    expect((await client.get("/payout", { headers: cookieHeader(browser) })).status).toBe(200);
    expect((await client.get("/payout", { headers: bearer(script.json() as Tokens) })).status).toBe(200);
    const owner = events.find(({ kind }) => kind === "passkey_added")?.user;
    expect(events.at(-1)).toMatchObject({ kind: "login_succeeded", user: owner, outcome: "success" });
  });

  it("lasts longer if the user asks for it", async () => {
    const { signIn, passkey } = await withPasskey();
    const [short, long] = [await signIn(passkey), await signIn(passkey, {}, { remember: true })];

    expect(short.cookies.join()).not.toMatch(/session=[^;]+;[^,]*Max-Age=[1-9]/);
    expect(long.cookies.join()).toMatch(/session=[^;]+;[^,]*Max-Age=[1-9]/);
  });

  it.each<[string, Deviation]>([
    ["from another page", { origin: "https://evil.example" }],
    ["for another domain", { rpId: "evil.example" }],
    ["for another challenge", { challenge: "A".repeat(43) }],
    ["without user verification", { isUserVerified: false }],
    ["with the handle of another user", { userHandle: "A".repeat(43) }],
  ])("is refused %s, and reported", async (_, deviation) => {
    const { signIn, passkey, events } = await withPasskey();
    const answer = await signIn(passkey, deviation);

    expect([answer.status, answer.json()]).toMatchObject([401, INVALID]);
    expect(answer.cookies.join()).not.toMatch(/session=[^;]/);
    expect(events.at(-1)).toMatchObject({ kind: "login_failed", user: null, outcome: "failure" });
    expect((await signIn(passkey)).status).toBe(200);
  });

  it.each([null, ""])("is accepted with the user handle %j, which authenticators may leave out", async (userHandle) => {
    const { signIn, passkey } = await withPasskey();

    expect((await signIn(passkey, { userHandle })).status).toBe(200);
  });

  it("is refused with a passkey that was never added, and one whose id is not text", async () => {
    const { signIn, post, passkey } = await withPasskey();
    const begun = await post("/passkeys/sign-in/options");
    const nameless = { ...passkey.get(optionsIn(begun)), id: 1 };

    expect((await signIn(new SoftwareAuthenticator())).json()).toMatchObject(INVALID);
    const answer = await post("/passkeys/sign-in", { credential: nameless }, undefined, cookieHeader(begun));
    expect(answer.json()).toMatchObject(INVALID);
  });

  it.each(["", "e30", "bnVsbA", Buffer.from('{"challenge":1}').toString("base64url"), 1, null, "%"])(
    "is refused with %j as client data",
    async (clientDataJSON) => {
      const { post, passkey } = await withPasskey();
      const begun = await post("/passkeys/sign-in/options");
      const { response, ...others } = passkey.get(optionsIn(begun)) as { response: object };
      const credential = { ...others, response: { ...response, clientDataJSON } };
      const answer = await post("/passkeys/sign-in", { credential }, undefined, cookieHeader(begun));

      expect([answer.status, answer.json()]).toMatchObject([401, INVALID]);
    },
  );

  it("requires a counter that grows, unless the authenticator has none", async () => {
    const { signIn, passkey, list } = await withPasskey({}, { counter: 5 });
    const statusAt = async (counter: number): Promise<number> => (await signIn(passkey, { counter })).status;

    expect([await statusAt(5), await statusAt(6), await statusAt(6), await statusAt(7)]).toEqual([401, 200, 401, 200]);
    const none = await withPasskey();
    expect([(await none.signIn(none.passkey)).status, (await none.signIn(none.passkey)).status]).toEqual([200, 200]);
    expect(await list(cookieHeader(await signIn(passkey, { counter: 8 })))).toHaveLength(1);
  });

  it("updates when the passkey was used, and whether it is backed up, for that passkey alone", async () => {
    const { signIn, add, passkey, list, clock } = await withPasskey();
    const other = new SoftwareAuthenticator();
    await add(cookieHeader(await signIn(passkey)), other);
    const before = new Date(clock.now()).toISOString();
    clock.advance(60_000);
    const strong = cookieHeader(await signIn(other));
    const used = new Date(clock.now()).toISOString();

    expect(await list(strong)).toMatchObject([
      { id: passkey.id, last_used_at: before, backed_up: false },
      { id: other.id, last_used_at: used },
    ]);
    await signIn(passkey, { isBackedUp: true });
    expect(await list(strong)).toMatchObject([
      { last_used_at: used, backed_up: true, syncable: true },
      { id: other.id },
    ]);
  });

  it("is refused to a disabled user, and to one who has not verified the address if that is required", async () => {
    const [users, stores] = [memoryUsers(), memoryStores()];
    const { signIn, passkey } = await withPasskey({ users, stores });
    const ann = (await users.objects.get({ username: "ann" })) as AccountUser;
    const account = { verifyEmail: true };
    const unverified = {
      ...users,
      loadUser: async (id: string) => Object.create(await users.loadUser(id), { isVerified: { value: false } }),
    };
    const unsure = await passkeyHarness({ users: unverified, stores, account });
    const strict = await passkeyHarness({ users, stores, account });

    expect((await unsure.signIn(passkey)).json()).toMatchObject(INVALID);
    expect((await strict.signIn(passkey)).status).toBe(200);
    await users.objects.disable(ann);
    expect((await signIn(passkey)).json()).toMatchObject(INVALID);
    await users.objects.enable(ann);
    expect((await signIn(passkey)).status).toBe(200);
  });

  it("may begin 100 times and be tried 20 times in five minutes from one address", async () => {
    const { post, signIn, passkey } = await withPasskey();
    const begin = async (from: string): Promise<number> => (await post("/passkeys/sign-in/options", {}, from)).status;
    const attempt = async (): Promise<number> =>
      (await post("/passkeys/sign-in", { credential: {} }, "203.0.113.9")).status;

    const [begun, tried]: [number[], number[]] = [[], []];
    for (let count = 0; count < 101; count++) begun.push(await begin("203.0.113.8"));
    for (let count = 0; count < 21; count++) tried.push(await attempt());
    expect([begun.indexOf(429), tried.indexOf(429)]).toEqual([100, 20]);
    expect((await signIn(passkey)).status).toBe(200);
  });

  it("takes the domain and the origins of the options, or else the address that the app listens on", async () => {
    const passkeys = {
      rpName: "Shop",
      rpId: "example.org",
      origins: ["https://a.example.org", "https://b.example.org"],
    };
    const { add, byPassword, signIn, registrationOptions, post } = await passkeyHarness({ account: { passkeys } });
    const passkey = new SoftwareAuthenticator();
    const headers = await byPassword();
    expect(await registrationOptions(headers)).toMatchObject({ rp: { name: "Shop", id: "example.org" } });
    expect((await add(headers, passkey)).json()).toMatchObject(INVALID);
    expect((await add(headers, passkey, { deviation: { origin: "https://b.example.org" } })).status).toBe(201);
    expect(optionsIn(await post("/passkeys/sign-in/options"))).toMatchObject({ rpId: "example.org" });
    expect((await signIn(passkey, { origin: "https://a.example.org" })).status).toBe(200);

    const local = await passkeyHarness({ app: { publicUrl: undefined as never } });
    const here = new SoftwareAuthenticator();
    const localhost = { deviation: { origin: "http://localhost" } };
    expect((await local.add(await local.byPassword(), here, localhost)).status).toBe(201);
  });

  it("requires publicUrl in production, or both rpId and origins", async () => {
    const app = { publicUrl: undefined as never };
    const passkeys = { rpName: "Shop", rpId: "shop.example", origins: ["https://shop.example"] };
    const [without, having] = [await passkeyHarness({ app }), await passkeyHarness({ app, account: { passkeys } })];
    vi.stubEnv("NODE_ENV", "production");
    const answers = [await without.post("/passkeys/sign-in/options"), await having.post("/passkeys/sign-in/options")];
    vi.unstubAllEnvs();

    expect(answers.map(({ status }) => status)).toEqual([500, 200]);
  });
});
