import { connect } from "node:net";
import { type LiveClient, liveClient, logCatcher, manualClock, testClient } from "portico/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { RecordingStore } from "./recording-store.ts";
import { COOKIE, cookieOf, idOf, isCleared, SECRET, sessionApp, signIn } from "./session-app.ts";

let store: RecordingStore;
let client: LiveClient;
let good: string;

beforeEach(async () => {
  store = new RecordingStore();
  client = await liveClient(sessionApp({ durable: store }));
  good = (await signIn(client, "ann")).headers.cookie;
  store.take();
});
afterEach(() => client.close());

describe("an invalid session cookie", () => {
  it("[BCK-04] [BCK-33] [auth:AU-063] with any character changed is rejected, cleared and not looked up", async () => {
    const value = good.slice(COOKIE.length + 1);
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const flipped = Array.from(value).map((character, index) => {
      // The next one: in the last place it differs in a bit that decoding ignores.
      const other = alphabet[(alphabet.indexOf(character) + 1) % alphabet.length] as string;
      return `${COOKIE}=${value.slice(0, index)}${other}${value.slice(index + 1)}`;
    });

    const answers = await Promise.all(flipped.map((cookie) => client.get("/me", { headers: { cookie } })));

    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
    expect(answers.every(isCleared)).toBe(true);
    expect(answers.every(({ headers }) => headers["www-authenticate"] !== undefined)).toBe(true);
    expect(store.take()).toEqual([]);
    expect((await client.get("/me", { headers: { cookie: good } })).status).toBe(200);
  });

  it("[auth:AU-064] needs a signature by a listed secret, and one by an older secret is signed again", async () => {
    const [fresh, other] = ["a newer secret, which is long enough too", "another secret altogether, long enough"];
    const unsigned = `${COOKIE}=${idOf(good)}`;
    const rotated = testClient(sessionApp({ durable: store, secret: [fresh, SECRET] }));
    const removed = testClient(sessionApp({ durable: store, secret: fresh }));
    const foreign = testClient(sessionApp({ durable: store, secret: [other] }));

    const accepted = await rotated.get("/me", { headers: { cookie: good } });
    const reissued = cookieOf(accepted) ?? "";

    expect((await client.get("/me", { headers: { cookie: unsigned } })).status).toBe(401);
    expect((await client.get("/me", { headers: { cookie: `${unsigned}.` } })).status).toBe(401);
    expect((await foreign.get("/me", { headers: { cookie: good } })).status).toBe(401);
    expect((await removed.get("/me", { headers: { cookie: good } })).status).toBe(401);
    expect([accepted.status, idOf(reissued)]).toEqual([200, idOf(good)]);
    expect(accepted.headers["cache-control"]).toBe("private, no-store");
    const again = await removed.get("/me", { headers: { cookie: reissued } });
    expect([again.status, again.cookies]).toEqual([200, []]);
  });

  it("[auth:AU-074] sent twice is rejected, in one header and in two", async () => {
    const stranger = (await signIn(client, "bob")).headers.cookie;

    const one = await client.get("/me", { headers: { cookie: `${good}; ${stranger}` } });
    const same = await client.get("/me", { headers: { cookie: `${good};${good}` } });
    const two = await raw(client.port, [`Cookie: ${good}`, `Cookie: ${stranger}`]);

    expect([one.status, same.status]).toEqual([401, 401]);
    expect(two).toMatch(/^HTTP\/1\.1 401 /);
  });

  it("is a different cookie if the byte 0xA0 precedes its name", async () => {
    const stranger = (await signIn(client, "bob")).headers.cookie;

    const alone = await raw(client.port, [`Cookie: \u00A0${stranger}`]);
    const second = await raw(client.port, [`Cookie: ${good}; \u00A0${stranger}`]);
    const tab = await raw(client.port, [`Cookie: a=b;\t${good}`]);

    expect(alone).toMatch(/^HTTP\/1\.1 401 /);
    expect(second).toContain('"who":"ann"');
    expect(tab).toContain('"who":"ann"');
  });

  it.each([
    ["larger than 4 kB", `${COOKIE}=${"x".repeat(5_000)}`],
    ["200 of them", Array.from({ length: 200 }, (_, index) => `c${index}=${index}`).join("; ")],
    ["an encoded zero", `${COOKIE}=%00`],
    ["percent signs that encode nothing", `${COOKIE}=%E0%A4%A; a=%`],
    ["the name of the prototype", "__proto__=x; constructor=y; __proto__[isAdmin]=1"],
    ["nothing", `${COOKIE}=`],
    ["no equals sign", COOKIE],
    ["quotes", `${COOKIE}="x.y"`],
    ["separators alone", ";;;=;=;"],
    ["another spelling of the name", "__HOST-portico_session=x"],
  ])("[auth:AU-076] is rejected: %s", async (_, cookie) => {
    const answer = await client.get("/me", { headers: { cookie } });
    const open = await client.get("/open", { headers: { cookie } });

    expect([answer.status, open.status, open.json()]).toEqual([401, 200, { who: "", auth: null }]);
    expect(Object.hasOwn(Object.prototype, "isAdmin")).toBe(false);
    expect(store.take()).toEqual([]);
  });

  it("[auth:AU-077] reaches the store only as a hash", async () => {
    const paths = ["../../etc/passwd", "%2e%2e%2fetc%2fpasswd", `../../${"a".repeat(37)}.${"b".repeat(43)}`];

    for (const path of paths)
      expect((await client.get("/me", { headers: { cookie: `${COOKIE}=${path}` } })).status).toBe(401);

    expect(store.take()).toEqual([]);
    expect([...store.entries.keys()].every((key) => /^(session|sessions-of):[\w-]{43}$/.test(key))).toBe(true);
  });
});

it("treats an invalid record as no session", async () => {
  const [key] = [...store.entries.keys()].filter((entry) => entry.startsWith("session:"));
  const damaged = ["", "null", "[]", "{", '{"__proto__":{"isAdmin":true}}', '{"user":1}', "\u2028"];

  for (const text of damaged) {
    await store.set(key as string, text);
    expect((await client.get("/me", { headers: { cookie: good } })).status).toBe(401);
  }
  expect(({} as { isAdmin?: true }).isAdmin).toBe(undefined);
});

it("never logs a cookie, an id or a secret", async () => {
  const logger = logCatcher();
  const clock = manualClock();
  const durable = new RecordingStore({ clock });
  const logged = await liveClient(sessionApp({ durable, clock, logger }));
  const session = await signIn(logged, "ann", { remember: true });
  const { cookie } = session.headers;
  const second = await signIn(logged, "ann");
  const bodies: string[] = [];
  const call = async (method: string, path: string, headers: Record<string, string>): Promise<void> => {
    bodies.push((await logged.request(method, path, { headers })).text());
  };

  await call("GET", "/me", session.headers);
  await call("GET", "/me", { cookie: `${cookie}x` });
  await call("GET", "/me", { cookie: `${cookie}; ${cookie}` });
  await call("POST", "/act", { cookie, origin: "https://evil.example" });
  await call("GET", "/sessions", session.headers);
  durable.before = () => {
    throw new Error("the store is down");
  };
  await call("GET", "/me", session.headers);
  await call("POST", "/login/ann", session.headers);
  await call("POST", "/logout", session.headers);
  durable.before = () => {};
  await call("POST", "/logout", second.headers);
  clock.advance(31 * 86_400_000);
  await call("GET", "/me", session.headers);
  await logged.close();

  expect(logger.lines.some(({ msg }) => msg.includes("an authentication backend threw"))).toBe(true);
  for (const part of [cookie, second.headers.cookie].flatMap((text) => [idOf(text), text.split(".")[1] as string])) {
    expect(logger.text).not.toContain(part);
    expect(bodies.join("\n")).not.toContain(part);
  }
  expect(logger.text).not.toContain(SECRET);
});

it.each([
  ["undefined", undefined],
  ["an empty string", ""],
  ["a string of 5 bytes", "short"],
  ["a string of 31 bytes", "x".repeat(31)],
  ["an array of 0", []],
  ["a string of 5 bytes at [1]", [SECRET, "short"]],
  ["42", 42],
  ["null", null],
  ["an object (Object)", {}],
])("refuses %s as its secret when it is built, and does not show it", (received, secret) => {
  let message = "";
  try {
    sessionApp({ secret: secret as string });
  } catch (error) {
    ({ message } = error as Error);
  }

  expect(message).toBe(
    `SessionMiddleware.secret must be a secret of at least 32 bytes, or a list of them, the newest first, received ${received}`,
  );
});

it.each([
  [{ idleSeconds: 0 }, "SessionMiddleware.idleSeconds must be a whole number of seconds"],
  [{ rememberedIdleSeconds: 1e9 }, "SessionMiddleware.rememberedIdleSeconds must be a whole number of seconds"],
  [
    { absoluteSeconds: 60 },
    "SessionMiddleware.absoluteSeconds must be at least the idle time of 7200 seconds, received 60",
  ],
  [{ maxPerUser: 0 }, "SessionMiddleware.maxPerUser must be a positive integer"],
  [{ store: {} as never }, "SessionMiddleware.store must be a KeyValueStore"],
])("rejects inconsistent options (%#)", (options, message) => {
  expect(() => sessionApp(options)).toThrow(message);
});

/** Sends header lines as they are: a client would join two of a name. */
async function raw(port: number, lines: readonly string[]): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.end(["GET /me HTTP/1.1", "Host: localhost", "Connection: close", ...lines, "", ""].join("\r\n"), "latin1");
  return Buffer.concat(await socket.toArray()).toString("latin1");
}
