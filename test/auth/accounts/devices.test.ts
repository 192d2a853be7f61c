import { useAuth } from "portico/auth";
import { liveClient, manualClock, type TestClient } from "portico/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { type AccountHarness, accountHarness, ann, owned, password } from "./account-harness.ts";

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}
interface Device {
  readonly id: string;
  readonly current: boolean;
  readonly device: string;
}
const FIREFOX = { "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0" };
const DAY_MS = 86_400_000;

const bearer = ({ access_token }: Tokens): Readonly<Record<string, string>> => ({
  authorization: `Bearer ${access_token}`,
});
const signIn = async ({ post }: AccountHarness, headers: Readonly<Record<string, string>> = {}): Promise<Tokens> =>
  (await post("/token", { identifier: "ann", password }, undefined, headers)).json() as Tokens;
const me = async (client: TestClient, headers: Readonly<Record<string, string>>): Promise<number> =>
  (await client.get("/account/me", { headers })).status;
const devices = async (client: TestClient, headers: Readonly<Record<string, string>>): Promise<readonly Device[]> =>
  (await client.get("/account/sessions", { headers })).json() as readonly Device[];

async function signedUp(options: Parameters<typeof accountHarness>[0] = {}): Promise<AccountHarness> {
  const harness = accountHarness({ ...owned, ...options });
  onTestFinished(() => harness.app.close());
  await harness.post("/register", ann);
  return harness;
}

describe("a device that signs in with tokens", () => {
  it("[auth:AU-041] is listed like a device with a cookie, and revoking it invalidates both of its tokens", async () => {
    const harness = await signedUp();
    const { client, post, session } = harness;
    const [laptop, phone] = [await session(), await signIn(harness, FIREFOX)];

    const [own, other] = [await devices(client, bearer(phone)), await devices(client, laptop)];
    const listed = own.find(({ current }) => current);
    expect(own.map(({ id }) => id)).toEqual(other.map(({ id }) => id));
    expect(listed?.device).toMatch(/Firefox/);
    expect(other.filter(({ current }) => current).map(({ id }) => id)).not.toContain(listed?.id);
    expect(await me(client, bearer(phone))).toBe(200);

    const ended = await client.delete(`/account/sessions/${listed?.id}`, { headers: laptop });

    expect(ended.status).toBe(204);
    expect([await me(client, bearer(phone)), await me(client, laptop)]).toEqual([401, 200]);
    expect((await post("/refresh", { refresh_token: phone.refresh_token })).status).toBe(401);
  });

  it("signs out with either of its tokens, and other devices stay signed in", async () => {
    const harness = await signedUp();
    const { client, post } = harness;
    const [one, two, three] = [await signIn(harness), await signIn(harness), await signIn(harness)];

    expect((await post("/logout", {}, undefined, bearer(one))).status).toBe(204);
    expect((await post("/logout", { refresh_token: two.refresh_token })).status).toBe(204);

    expect([await me(client, bearer(one)), await me(client, bearer(two)), await me(client, bearer(three))]).toEqual([
      401, 401, 200,
    ]);
    const refreshed = await Promise.all(
      [one, two, three].map(async ({ refresh_token }) => (await post("/refresh", { refresh_token })).status),
    );
    expect(refreshed).toEqual([401, 401, 200]);
    expect(await devices(client, bearer(three))).toMatchObject([{ current: true }]);
  });

  it("gets a new session after a password change", async () => {
    const harness = await signedUp();
    const { client, post } = harness;
    const before = await signIn(harness);
    const change = { current_password: password, new_password: "another password" };

    const after = (await post("/password", change, undefined, bearer(before))).json() as Tokens;

    expect([await me(client, bearer(before)), await me(client, bearer(after))]).toEqual([401, 200]);
    expect(await devices(client, bearer(after))).toMatchObject([{ current: true }]);
  });

  it("loses its sockets with its session", async () => {
    const harness = accountHarness();
    onTestFinished(() => harness.app.close());
    harness.app.socket("/news", { auth: useAuth() }, async ({ socket }) => {
      for await (const text of socket) socket.send(String(text));
    });
    await harness.post("/register", ann);
    const phone = await signIn(harness);
    const client = await liveClient(harness.app);
    const socket = await client.socket("/news", { headers: bearer(phone) });
    socket.send("there?");
    expect(await socket.next()).toBe("there?");

    await harness.post("/logout", { refresh_token: phone.refresh_token });

    expect(await socket.closed).toMatchObject({ code: 4403 });
  });

  it("counts the sign-in time from the password, not from the last token", async () => {
    const clock = manualClock();
    const harness = await signedUp({ app: { clock } });
    const { post } = harness;
    const phone = await signIn(harness);
    const newKey = async (tokens: Tokens, body = {}): Promise<number> =>
      (await post("/keys", body, undefined, bearer(tokens))).status;

    expect(await newKey(phone)).toBe(201);
    clock.advance(11 * 60_000);
    const next = (await post("/refresh", { refresh_token: phone.refresh_token })).json() as Tokens;
    expect(await newKey(next)).toBe(403);
    expect(await newKey(next, { password })).toBe(201);
  });

  it("stays signed in as long as it refreshes within 14 days, and no longer than 30", async () => {
    const clock = manualClock();
    const harness = await signedUp({ app: { clock } });
    const { client, post } = harness;
    let phone = await signIn(harness);
    const idle = await signIn(harness);

    for (const _ of [13, 26]) {
      clock.advance(13 * DAY_MS);
      phone = (await post("/refresh", { refresh_token: phone.refresh_token })).json() as Tokens;
      expect(await me(client, bearer(phone))).toBe(200);
    }
    expect((await post("/refresh", { refresh_token: idle.refresh_token })).status).toBe(401);
    expect(await devices(client, bearer(phone))).toHaveLength(1);
    clock.advance(5 * DAY_MS);
    expect((await post("/refresh", { refresh_token: phone.refresh_token })).status).toBe(401);
  });

  it("cannot be signed out by another user who knows its session", async () => {
    const harness = await signedUp();
    const { client, post, session } = harness;
    await post("/register", { email: "bob@example.org", username: "bob", password });
    const phone = await signIn(harness);
    const [listed] = await devices(client, bearer(phone));

    const refused = await client.delete(`/account/sessions/${listed?.id}`, { headers: await session("bob") });

    expect([refused.status, await me(client, bearer(phone))]).toEqual([404, 200]);
  });
});
