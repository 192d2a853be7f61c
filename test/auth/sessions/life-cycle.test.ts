import { createHash } from "node:crypto";
import type { Clock } from "portico";
import { SimpleUser } from "portico/auth";
import { liveClient, manualClock, type TestClient, testClient } from "portico/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { RecordingStore } from "./recording-store.ts";
import { COOKIE, cookieOf, idOf, isCleared, sessionApp, signIn } from "./session-app.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

let clock: ReturnType<typeof manualClock>;
let store: RecordingStore;
let client: Awaited<ReturnType<typeof liveClient>>;

beforeEach(async () => {
  clock = manualClock(Date.UTC(2026, 0, 1));
  store = new RecordingStore({ clock });
  client = await liveClient(sessionApp({ durable: store, clock }));
});
afterEach(() => client.close());

const status = async (over: TestClient, session: { headers: { cookie: string } }): Promise<number> =>
  (await over.get("/me", session)).status;

describe("signing in", () => {
  it("[BCK-04] [BCK-05] [BCK-06] [BCK-17] authenticates by the cookie of a login, as the stored user id, with the scope session", async () => {
    const asked: string[] = [];
    const loadUser = async (identity: string): Promise<null> => {
      asked.push(identity);
      return null;
    };
    const session = await signIn(client, "9");

    expect((await client.get("/me", session)).json()).toEqual({ who: "9", auth: "session" });

    const other = sessionApp({ durable: store, clock, loadUser });
    await testClient(other).get("/open", session);
    expect(asked).toEqual(["9"]);
  });

  it("[BCK-32] [auth:AU-075] [auth:AU-062] sets __Host-portico_session with Secure, HttpOnly, SameSite=Lax and Path=/, whatever a proxy claims", async () => {
    const plain = await client.post("/login/ann");
    const claimed = await client.post("/login/ann", { headers: { "x-forwarded-proto": "http" } });
    const remembered = await client.post("/login/ann?remember=1");

    for (const answer of [plain, claimed, remembered]) {
      const [value, ...attributes] = (answer.cookies[0] as string).split("; ");
      expect(answer.cookies).toHaveLength(1);
      expect(value).toMatch(/^__Host-portico_session=[\w-]{43}\.[\w-]{43}$/);
      expect(attributes.filter((entry) => !entry.startsWith("Max-Age")).toSorted()).toEqual([
        "HttpOnly",
        "Path=/",
        "SameSite=Lax",
        "Secure",
      ]);
    }
    expect(plain.cookies[0]).not.toContain("Max-Age");
    expect(remembered.cookies[0]).toContain(`Max-Age=${30 * 86_400};`);
    expect(() => sessionApp({ secure: false } as object)).toThrow('SessionMiddleware: unknown option "secure"');
  });

  it("[BCK-33] [BCK-34] [auth:AU-073] creates an id of 32 bytes for each login, and stores only its SHA-256 hash", async () => {
    const [first, second] = [await signIn(client, "ann"), await signIn(client, "ann")];
    const ids = [idOf(first.headers.cookie), idOf(second.headers.cookie)];
    const digests = ids.map((id) => createHash("sha256").update(Buffer.from(id, "base64url")).digest("base64url"));

    expect(new Set(ids).size).toBe(2);
    for (const id of ids) {
      expect(Buffer.from(id, "base64url")).toHaveLength(32);
      expect(store.text).not.toContain(id);
    }
    for (const digest of digests) {
      expect(store.text).toContain(digest);
      for (const value of [digest, `${digest}.${digest}`, first.headers.cookie.replace(ids[0] as string, digest)]) {
        const cookie = value.startsWith(COOKIE) ? value : `${COOKIE}=${value}`;
        expect((await client.get("/me", { headers: { cookie } })).status).toBe(401);
      }
    }
  });

  it("[REQ-13] [auth:AU-065] [auth:AU-067] [auth:AU-079] creates a new id at every login, and invalidates the old one at once", async () => {
    const first = await signIn(client, "ann");
    const again = await signIn(client, "ann", first);
    const other = await signIn(client, "bob", again);

    expect(new Set([first, again, other].map(({ headers }) => idOf(headers.cookie))).size).toBe(3);
    expect([await status(client, first), await status(client, again), await status(client, other)]).toEqual([
      401, 401, 200,
    ]);
    expect((await client.get("/sessions", other)).json()).toHaveLength(1);
  });

  it("[auth:AU-066] carries nothing of the session before over to the new one", async () => {
    const first = await signIn(client, "ann");
    const [key, record] = [...store.entries].find(([name]) => name.startsWith("session:")) ?? ["", ""];
    await store.set(key, JSON.stringify({ ...JSON.parse(record), cart: ["a book"] }), HOUR);

    await signIn(client, "ann", first);

    expect([...store.entries].filter(([name]) => name.startsWith("session:"))).toHaveLength(1);
    expect(JSON.stringify([...store.entries])).not.toContain("cart");
  });

  it("sets the user for the rest of that request, and clears it after a logout", async () => {
    const answer = await client.post("/login/ann");

    expect(answer.json()).toEqual({ who: "ann", auth: "session" });
    const left = await client.post("/logout", { headers: { cookie: cookieOf(answer) as string } });
    expect([left.json(), isCleared(left)]).toEqual([{ who: "" }, true]);
  });

  it("[REQ-14] stores user id, issue time and a device label", async () => {
    clock.advance(5_000);
    const agent = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
    const session = await signIn(client, "ann", { headers: { "user-agent": agent } });

    const record = [...store.entries].find(([key]) => key.startsWith("session:"))?.[1] ?? "";

    expect(JSON.parse(record)).toMatchObject({
      user: "ann",
      issuedAt: clock.now(),
      device: "Firefox on Linux",
      address: "127.0.0.1",
    });
    expect((await client.get("/sessions", session)).json()).toEqual([
      {
        id: expect.stringMatching(/^[\w-]{43}$/),
        current: true,
        device: "Firefox on Linux",
        address: "127.0.0.1",
        createdAt: new Date(clock.now()).toISOString(),
        lastSeenAt: new Date(clock.now()).toISOString(),
        expiresAt: new Date(clock.now() + 2 * HOUR).toISOString(),
      },
    ]);
  });

  it.each([
    [
      "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/130.0.0.0 Safari/537.36 Edg/130.0",
      "Edge on Windows",
    ],
    [
      "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605 Version/18.0 Mobile/15E148 Safari/604.1",
      "Safari on iPhone",
    ],
    [
      "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 Chrome/130.0.0.0 Safari/537.36",
      "Chrome on macOS",
    ],
    ["curl/8.5.0", "Unknown device"],
    ["<b>bold</b>\u0085\u00adx", "Unknown device"],
    ["x".repeat(8_000), "Unknown device"],
    ["", "Unknown device"],
  ])("[auth:AU-087] labels a device in short printable text (%#)", async (agent, label) => {
    const session = await signIn(client, "ann", { headers: { "user-agent": agent } });

    expect((await client.get("/sessions", session)).json()).toMatchObject([{ device: label }]);
  });

  it("[auth:AU-084] makes a response that sets the cookie uncacheable, and sets Vary if it depends on the caller", async () => {
    const login = await client.post("/login/ann");
    const me = await client.get("/me", { headers: { cookie: cookieOf(login) as string } });

    expect(login.headers).toMatchObject({ "cache-control": "private, no-store", vary: "Cookie" });
    expect(me.headers["vary"]).toBe("Cookie");
    expect(me.cookies).toEqual([]);
  });
});

describe("the end of a session", () => {
  it("[auth:AU-068] [auth:AU-120] comes with a logout, on every process at once", async () => {
    const session = await signIn(client, "ann", { remember: true });
    const second = testClient(sessionApp({ durable: store, clock }));
    expect(await status(second, session)).toBe(200);

    const left = await client.post("/logout", session);

    expect(isCleared(left)).toBe(true);
    expect([await status(client, session), await status(second, session)]).toEqual([401, 401]);
  });

  it("[REQ-16] [REQ-24] [auth:AU-070] comes after 2 h without a request, not a second before", async () => {
    const session = await signIn(client, "ann");

    clock.advance(2 * HOUR - 1_000);
    expect(await status(client, session)).toBe(200);
    clock.advance(2 * HOUR - 1);
    expect(await status(client, session)).toBe(200);
    clock.advance(2 * HOUR);
    const late = await client.get("/me", session);
    expect([late.status, isCleared(late)]).toEqual([401, true]);
  });

  it("[REQ-17] [REQ-24] [auth:AU-071] comes after 24 h, even if it is used", async () => {
    const session = await signIn(client, "ann");

    for (let hour = 1; hour < 24; hour++) {
      clock.advance(HOUR);
      expect(await status(client, session)).toBe(200);
    }
    clock.advance(HOUR - 1);
    expect(await status(client, session)).toBe(200);
    clock.advance(1);
    expect(await status(client, session)).toBe(401);
  });

  it("[REQ-25] comes after 14 idle days or 30 days in total if it is remembered", async () => {
    const idle = await signIn(client, "ann", { remember: true });
    const busy = await signIn(client, "ann", { remember: true });

    for (const ms of [14 * DAY - 1, 14 * DAY - 1, 2 * DAY + 1]) {
      clock.advance(ms);
      expect(await status(client, busy)).toBe(200);
    }
    expect(await status(client, idle)).toBe(401);
    clock.advance(1);
    expect(await status(client, busy)).toBe(401);
  });

  it("[auth:AU-072] is neither delayed nor hastened by a clock that is set back", async () => {
    const real = manualClock(DAY);
    let shift = 0;
    const moved: Clock = { now: () => real.now() + shift, monotonic: () => real.monotonic() };
    const durable = new RecordingStore({ clock: real });
    const over = testClient(sessionApp({ durable, clock: moved }));
    const session = await signIn(over, "ann");

    real.advance(HOUR);
    expect(await status(over, session)).toBe(200);
    shift = -12 * HOUR;
    for (let hour = 1; hour < 24; hour++) {
      expect(await status(over, session)).toBe(200);
      if (hour < 23) real.advance(HOUR);
    }
    real.advance(HOUR - 1);
    expect(await status(over, session)).toBe(200);
    real.advance(1);
    expect(await status(over, session)).toBe(401);
    shift = -3 * DAY;
    expect(await status(over, session)).toBe(401);
  });

  it("writes the last use at most once a minute", async () => {
    const session = await signIn(client, "ann");
    store.take();

    for (let request = 0; request < 4; request++) {
      clock.advance(20_000);
      await client.get("/me", session);
    }

    expect(store.take().filter((call) => call !== "get session")).toEqual(["compareAndSet session"]);
  });

  it("[auth:AU-082] comes when the user is deleted", async () => {
    const gone = new Set<string>();
    const loadUser = async (identity: string): Promise<SimpleUser | null> =>
      gone.has(identity) ? null : new SimpleUser(identity);
    const over = testClient(sessionApp({ durable: store, clock, loadUser }));
    const sessions = [await signIn(over, "ann"), await signIn(over, "ann")];
    expect(await status(over, sessions[0] as never)).toBe(200);

    gone.add("ann");

    expect(await Promise.all(sessions.map((session) => status(over, session)))).toEqual([401, 401]);
  });
});

describe("listing and revoking", () => {
  it("[REQ-15] [auth:AU-069] [auth:AU-085] lists handles that cannot be used to sign in, and ends a session by its handle", async () => {
    const [here, there] = [await signIn(client, "ann"), await signIn(client, "ann")];
    const listed = (await client.get("/sessions", here)).json() as { id: string; current: boolean }[];
    const handle = listed.find(({ current }) => !current)?.id ?? "";
    expect(listed.map(({ current }) => current)).toEqual([false, true]);
    expect(JSON.stringify(listed)).not.toContain(idOf(there.headers.cookie));
    expect((await client.get("/me", { headers: { cookie: `${COOKIE}=${handle}` } })).status).toBe(401);

    const revoked = await client.delete(`/sessions/${handle}`, here);

    expect(revoked.status).toBe(204);
    expect([await status(client, here), await status(client, there)]).toEqual([200, 401]);
    expect((await client.delete(`/sessions/${handle}`, here)).status).toBe(404);
  });

  it("[auth:AU-086] returns 404 for the handle of another user, and ends nothing", async () => {
    const [ann, bob] = [await signIn(client, "ann"), await signIn(client, "bob")];
    const [{ id }] = (await client.get("/sessions", bob)).json() as [{ id: string }];

    const answers = await Promise.all(
      [id, "x", "../../etc/passwd", "__proto__"].map((handle) =>
        client.delete(`/sessions/${encodeURIComponent(handle)}`, ann),
      ),
    );

    expect(answers.map((answer) => answer.status)).toEqual([404, 404, 404, 404]);
    expect(await status(client, bob)).toBe(200);
  });

  it("ends all other sessions, and all sessions", async () => {
    const sessions = [await signIn(client, "ann"), await signIn(client, "ann"), await signIn(client, "ann")];
    const bob = await signIn(client, "bob");

    expect((await client.post("/revoke-others", sessions[0])).json()).toBe(2);
    expect(await Promise.all(sessions.map((session) => status(client, session)))).toEqual([200, 401, 401]);
    const all = await client.post("/revoke-all", sessions[0]);
    expect([all.json(), isCleared(all)]).toEqual([1, true]);
    expect([await status(client, sessions[0] as never), await status(client, bob)]).toEqual([401, 200]);
    expect((await client.post("/revoke-all")).json()).toBe(0);
  });

  it("[auth:AU-080] keeps 50 sessions per user, even if they start at once, and ends the oldest", async () => {
    const first = await signIn(client, "ann");
    for (let batch = 0; batch < 50; batch++) {
      clock.advance(1);
      await Promise.all(Array.from({ length: 10 }, () => client.post("/login/ann")));
    }
    const last = await signIn(client, "ann");

    const page = (await client.get("/session-pages", last)).json();

    expect(page).toMatchObject({ pagination: { total_items: 50 } });
    expect(await status(client, first)).toBe(401);
  });

  it("manages the sessions of the caller, with any sign-in method", async () => {
    const [ann, bob] = [await signIn(client, "ann"), await signIn(client, "bob")];

    const listed = await client.get("/sessions", { headers: { ...bob.headers, "x-apikey": "ann" } });

    expect(listed.json()).toMatchObject([{ current: false }]);
    expect((await client.post("/revoke-all", { headers: { ...bob.headers, "x-apikey": "ann" } })).json()).toBe(1);
    expect([await status(client, ann), await status(client, bob)]).toEqual([401, 200]);
  });
});
