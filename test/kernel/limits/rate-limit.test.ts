import {
  ConfigurationError,
  type CounterStore,
  memoryStores,
  PorticoApp,
  type RateLimitOptions,
  rateLimit,
} from "portico";
import { liveClient, logCatcher, manualClock, SocketRefused, type TestClient, testClient } from "portico/testing";
import { afterEach, describe, expect, it, vi } from "vitest";
import { overBoth } from "../../matrix.ts";

const limited = (...limits: readonly RateLimitOptions[]): PorticoApp =>
  new PorticoApp({ logger: false, trustedProxies: ["loopback"] }).get(
    "/",
    { middleware: limits.map((options) => rateLimit(options)) },
    () => "let in",
  );
const from = (client: TestClient, ip: string) => client.get("/", { headers: { "x-forwarded-for": ip } });
async function statuses(client: TestClient, ips: readonly string[]): Promise<readonly number[]> {
  const seen: number[] = [];
  for (const ip of ips) seen.push((await from(client, ip)).status);
  return seen;
}
/** Counts in a map; windows never end. */
function countingStore(): CounterStore & { readonly counts: Map<string, number>; isDown: boolean; calls: number } {
  const counts = new Map<string, number>();
  return {
    counts,
    isDown: false,
    calls: 0,
    async increment(key, windowMs) {
      this.calls++;
      if (this.isDown) throw new Error("the store is down");
      const value = (counts.get(key) ?? 0) + 1;
      counts.set(key, value);
      return { value, resetAfterMs: windowMs };
    },
    async reset(key) {
      counts.delete(key);
    },
  };
}

afterEach(() => void vi.useRealTimers());

overBoth(
  "accepts requests up to the limit, then responds with 429 and retry-after",
  () => limited({ perMinute: 2 }),
  async (client) => {
    const answers = [await client.get("/"), await client.get("/"), await client.get("/")];

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
    const [, , refused] = answers;
    const seconds = Number(refused?.headers["retry-after"]);
    expect(seconds).toBeGreaterThan(50);
    expect(seconds).toBeLessThanOrEqual(60);
    expect(refused?.json()).toMatchObject({ code: "rate_limited", detail: `Too many attempts, retry in ${seconds} s` });
  },
);

it.each([
  ["perSecond", 1],
  ["perMinute", 60],
  ["perHour", 3600],
] as const)(
  "%s opens a window of %i s: requests above the limit are rejected until it has passed",
  async (window, seconds) => {
    vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"] });
    const client = testClient(limited({ [window]: 1 }));
    await client.get("/");

    const during = await client.get("/");
    vi.advanceTimersByTime(seconds * 1000 - 1);
    const justBefore = await client.get("/");
    vi.advanceTimersByTime(1);
    const after = await client.get("/");

    expect([during.status, during.headers["retry-after"]]).toEqual([429, String(seconds)]);
    expect([justBefore.status, justBefore.headers["retry-after"]]).toEqual([429, "1"]);
    expect(after.status).toBe(200);
  },
);

describe("the key of a limit", () => {
  it("is an address", async () => {
    const client = testClient(limited({ perMinute: 1 }));

    expect(await statuses(client, ["203.0.113.1", "203.0.113.2", "203.0.113.1"])).toEqual([200, 200, 429]);
  });

  it("is, of IPv6, the first 64 bits, however they are written", async () => {
    const client = testClient(limited({ perMinute: 1 }));

    expect(await statuses(client, ["2001:db8:1:2::1", "2001:db8:1:2:ffff:1:2:3", "2001:0DB8:0001:0002::9"])).toEqual([
      200, 429, 429,
    ]);
    expect(await statuses(client, ["2001:db8:1:3::1", "2001:db8::1", "2001:db8::2", "::1", "::2"])).toEqual([
      200, 200, 429, 200, 429,
    ]);
    expect(await statuses(client, ["2001:db8:0:0:1:2:3:4", "1:11::1", "11:1::1"])).toEqual([429, 200, 200]);
  });

  it("is, of IPv4 written as IPv6, the IPv4 address", async () => {
    const client = testClient(limited({ perMinute: 1 }));

    expect(await statuses(client, ["::ffff:203.0.113.1", "::ffff:203.0.113.2", "203.0.113.1"])).toEqual([
      200, 200, 429,
    ]);
    expect(await statuses(client, ["::ffff:cb00:7103", "0:0:0:0:0:FFFF:cb00:7104", "203.0.113.4"])).toEqual([
      200, 200, 429,
    ]);
  });

  it("is the result of the key function, sync or async", async () => {
    const app = limited({ perMinute: 1, key: async (ctx) => ctx.request.headers["x-account"] ?? "nobody" });
    const by = async (account: string): Promise<number> =>
      (await testClient(app).get("/", { headers: { "x-account": account } })).status;

    expect([await by("ann"), await by("bob"), await by("ann")]).toEqual([200, 200, 429]);
  });
});

describe("limits that share a counter", () => {
  const routes = (a: RateLimitOptions, b: RateLimitOptions): TestClient =>
    testClient(
      new PorticoApp({ logger: false })
        .get("/a", { middleware: [rateLimit(a)] }, () => "a")
        .get("/b", { middleware: [rateLimit(b)] }, () => "b"),
    );

  it("is one limit: another has its own count", async () => {
    const client = routes({ perMinute: 1 }, { perMinute: 1 });

    expect([(await client.get("/a")).status, (await client.get("/b")).status]).toEqual([200, 200]);
  });

  it("are limits of the same name", async () => {
    const client = routes({ perMinute: 1, name: "login" }, { perMinute: 1, name: "login" });

    expect([(await client.get("/a")).status, (await client.get("/b")).status]).toEqual([200, 429]);
  });

  it("is every route of the app when the app has it, those that do not exist among them", async () => {
    const app = new PorticoApp({ logger: false }).use(rateLimit({ perMinute: 2 })).get("/", () => 1);
    const client = testClient(app);

    const answers = [await client.get("/"), await client.get("/nothing"), await client.get("/")];

    expect(answers.map(({ status }) => status)).toEqual([200, 404, 429]);
  });

  it("several limits on one route all hold", async () => {
    const client = testClient(limited({ perMinute: 3 }, { perHour: 2 }));

    expect(await statuses(client, Array<string>(3).fill("203.0.113.1"))).toEqual([200, 200, 429]);
  });
});

describe("the store", () => {
  it("is that of the app, or the limit's own", async () => {
    const [ofApp, own] = [countingStore(), countingStore()];
    const app = new PorticoApp({ logger: false, stores: { ...memoryStores(), counters: ofApp } })
      .get("/app", { middleware: [rateLimit({ perMinute: 5 })] }, () => 1)
      .get("/own", { middleware: [rateLimit({ perMinute: 5, store: own })] }, () => 1);

    await testClient(app).get("/app");
    await testClient(app).get("/own");
    await testClient(app).get("/own");

    expect([[...ofApp.counts.values()], [...own.counts.values()]]).toEqual([[1], [2]]);
  });

  it("that fails does not lift the limit: the process counts in memory, logs it once and retries after 5 s", async () => {
    const log = logCatcher();
    const clock = manualClock();
    const store = countingStore();
    const app = new PorticoApp({ logger: log, clock }).get(
      "/",
      { middleware: [rateLimit({ perMinute: 2, store })] },
      () => 1,
    );
    const client = testClient(app);
    store.isDown = true;

    const down = [await client.get("/"), await client.get("/"), await client.get("/")];
    const callsWhileDown = store.calls;
    store.isDown = false;
    clock.advance(4_999);
    const stillAlone = await client.get("/");
    clock.advance(1);
    const back = await client.get("/");

    expect(down.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(callsWhileDown).toBe(1);
    expect([stillAlone.status, back.status, store.calls]).toEqual([429, 200, 2]);
    expect(log.lines.map(({ level, msg }) => [level, msg])).toEqual([
      ["error", "rateLimit: counter store unavailable; falling back to in-process rate limiting"],
    ]);
  });
});

it("applies to the upgrade of a socket, which is rejected with a readable response", async () => {
  const app = new PorticoApp({ logger: false }).socket(
    "/chat",
    { middleware: [rateLimit({ perMinute: 1 })] },
    ({ socket }) => socket.send("hello"),
  );
  const client = await liveClient(app);

  const first = await (await client.socket("/chat")).next();
  const second = await client.socket("/chat").catch((error: unknown) => error as SocketRefused);
  await client.close();

  expect(first).toBe("hello");
  expect(second).toBeInstanceOf(SocketRefused);
  const { response } = second as SocketRefused;
  expect(response.status).toBe(429);
  expect(Number(response.headers["retry-after"])).toBeGreaterThan(0);
});

it.each([
  ["no window", {}, "rateLimit requires exactly one of perSecond, perMinute and perHour, received none"],
  ["two windows", { perSecond: 1, perHour: 1 }, "received perSecond and perHour"],
  ["a limit of 0", { perMinute: 0 }, "rateLimit.perMinute must be a positive integer, received 0"],
  ["a limit of a half", { perMinute: 0.5 }, "rateLimit.perMinute must be a positive integer, received 0.5"],
  ["a limit that is a string", { perHour: "10" }, 'rateLimit.perHour must be a positive integer, received "10"'],
  ["a misspelt option", { perMinut: 1 }, 'rateLimit: unknown option "perMinut". Did you mean "perMinute"?'],
  ["a key that is no function", { perMinute: 1, key: "ip" }, "rateLimit.key must be a function"],
  ["a store that is none", { perMinute: 1, store: {} }, "rateLimit.store must be a counter store"],
  ["an empty name", { perMinute: 1, name: "" }, "rateLimit.name must be a non-empty string"],
  ["nothing", undefined, "rateLimit options must be an object, received undefined"],
])("rejects %s at its declaration", (_what, options, sentence) => {
  const act = (): unknown => rateLimit(options as RateLimitOptions);

  expect(act).toThrow(ConfigurationError);
  expect(act).toThrow(sentence);
});
