import { createHash } from "node:crypto";
import { type CounterStore, HttpException, memoryStores, PorticoApp, rateLimit } from "portico";
import { limitLogin } from "portico/auth";
import { logCatcher, manualClock, testClient } from "portico/testing";
import { describe, expect, it } from "vitest";

/** A store that notes its keys, and fails if it is told to. */
function notingStore() {
  const { counters } = memoryStores();
  const noted: unknown[] = [];
  const store: CounterStore & { isDown: boolean } = {
    isDown: false,
    async increment(key, windowMs) {
      noted.push(["increment", key, windowMs]);
      if (this.isDown) throw new Error("the store is down");
      return counters.increment(key, windowMs);
    },
    async reserve(key, windowMs, units, limit) {
      noted.push(["reserve", key, windowMs, units, limit]);
      if (this.isDown) throw new Error("the store is down");
      return (counters as Required<CounterStore>).reserve(key, windowMs, units, limit);
    },
    reset: (key, windowMs) => counters.reset(key, windowMs),
  };
  return { store, noted };
}

describe("the key of a rate limit in the store", () => {
  it("has the name and the numbers of the limit, and the address of the client", async () => {
    const { store, noted } = notingStore();
    const app = new PorticoApp({ logger: false, trustedProxies: ["loopback"] })
      .get("/a", { middleware: [rateLimit({ perSecond: 5, name: "a", store })] }, () => 1)
      .get("/b", { middleware: [rateLimit({ perMinute: 6, name: "b", store })] }, () => 1)
      .get("/c", { middleware: [rateLimit({ perHour: 7, name: "c", store })] }, () => 1);
    const client = testClient(app);

    for (const path of ["/a", "/b", "/c"]) await client.get(path, { headers: { "x-forwarded-for": "203.0.113.7" } });

    expect(noted).toEqual([
      ["increment", "rate:a:5:1:203.0.113.7", 1_000],
      ["increment", "rate:b:6:60:203.0.113.7", 60_000],
      ["increment", "rate:c:7:3600:203.0.113.7", 3_600_000],
    ]);
  });

  it("is a hash if it has more than 256 characters", async () => {
    const { store, noted } = notingStore();
    const key = (ctx: { readonly request: { readonly headers: Readonly<Record<string, string | undefined>> } }) =>
      ctx.request.headers["x-account"] ?? "";
    const limit = rateLimit({ perMinute: 1, name: "long", store, key });
    const client = testClient(new PorticoApp({ logger: false }).get("/", { middleware: [limit] }, () => 1));
    const prefix = "rate:long:1:60:";
    const accounts = [256, 257].map((length) => "x".repeat(length - prefix.length));
    const statuses: number[] = [];

    for (const account of [...accounts, ...accounts, `${accounts[1]}y`])
      statuses.push((await client.get("/", { headers: { "x-account": account } })).status);

    expect(statuses).toEqual([200, 200, 429, 429, 200]);
    const digest = createHash("sha256").update(`${prefix}${accounts[1]}`).digest("base64url");
    expect(noted.slice(0, 2)).toEqual([
      ["increment", `${prefix}${accounts[0]}`, 60_000],
      ["increment", `long:${digest}`, 60_000],
    ]);
  });
});

describe("a rate limit", () => {
  it("counts attempts of anything, and knows its rate in words", async () => {
    const limit = rateLimit({ perMinute: 2 });
    const app = new PorticoApp({ logger: false }).get("/:times", async ({ ctx, path }) => {
      for (let n = 0; n < Number(path.times); n++) await limit.attempt(ctx);
      return "invited";
    });
    const client = testClient(app);

    expect([(await client.get("/2")).status, (await client.get("/1")).status]).toEqual([200, 429]);
    expect([limit.rate, rateLimit({ perSecond: 1 }).rate, rateLimit({ perHour: 30 }).rate]).toEqual([
      "2 per minute",
      "1 per second",
      "30 per hour",
    ]);
  });

  it.each([null, {}, { increment: 1 }, "memory"])("does not accept %j as its store", (store) => {
    expect(() => rateLimit({ perMinute: 1, store: store as never })).toThrow("rateLimit.store must be a counter store");
  });

  it("has one of three windows", () => {
    expect(() => rateLimit({})).toThrow(
      "rateLimit requires exactly one of perSecond, perMinute and perHour, received none",
    );
    expect(() => rateLimit({ perSecond: 1, perHour: 2 })).toThrow(
      "rateLimit requires exactly one of perSecond, perMinute and perHour, received perSecond and perHour",
    );
  });
});

describe("a store that fails", () => {
  it("is not used for five seconds, while a budget counts in memory, and the log names the budget", async () => {
    const { store, noted } = notingStore();
    const [clock, log] = [manualClock(), logCatcher()];
    const stores = { ...memoryStores(), counters: store };
    const budget = { addressPerMinute: 3 };
    const client = testClient(new PorticoApp({ logger: log, clock, stores, budget }).get("/", () => "hello"));
    const status = async (): Promise<number> => (await client.get("/")).status;

    store.isDown = true;
    const first = await status();
    clock.advance(4_999);
    const second = await status();
    expect([first, second, noted.length]).toEqual([200, 200, 1]);
    clock.advance(1);
    expect([await status(), await status(), noted.length]).toEqual([200, 429, 2]);

    expect(noted[0]).toEqual(["reserve", expect.stringMatching(/^budget:address:127\.0\.0\.1$/), 60_000, 1, 3]);
    const lines = log.lines.filter(({ level }) => level === "error");
    expect(lines.map(({ msg }) => msg)).toEqual(
      Array(2).fill("budget: counter store unavailable; falling back to in-process rate limiting"),
    );
    expect(lines[0]).toMatchObject({ err: { message: "the store is down" } });
  });
});

it("a successful sign-in resets the attempts with its name and address", async () => {
  const app = new PorticoApp({ logger: false, clock: manualClock() }).post("/:outcome", async ({ path }) => {
    await limitLogin("ann", async () => (path.outcome === "right" ? "ann" : null));
  });
  const client = testClient(app);
  const statuses = async (...outcomes: readonly string[]): Promise<ReadonlySet<number>> => {
    const seen = new Set<number>();
    for (const outcome of outcomes) seen.add((await client.post(`/${outcome}`)).status);
    return seen;
  };
  const wrong = Array<string>(4).fill("wrong");

  expect(await statuses(...wrong, "right", ...wrong)).toEqual(new Set([204]));
  expect(await statuses(...wrong)).toEqual(new Set([204, 429]));
});

it("an exception of a limit has its own name", async () => {
  const names: string[] = [];
  const app = new PorticoApp({ logger: false, budget: { addressPerMinute: 1 } })
    .get("/budget", () => "hello")
    .get("/rate", { cost: 0, middleware: [rateLimit({ perMinute: 1 })] }, () => "hello")
    .addExceptionHandler(HttpException, (_request, response, error) => {
      names.push(error.name);
      return response.status(error.status).empty();
    });
  const client = testClient(app);

  for (const path of ["/budget", "/budget", "/rate", "/rate"]) await client.get(path);

  expect(names).toEqual(["BudgetExceeded", "TooManyRequests"]);
});
