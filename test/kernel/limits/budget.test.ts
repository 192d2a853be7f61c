import { setTimeout as sleep } from "node:timers/promises";
import { type BudgetOptions, ConfigurationError, memoryStores, PorticoApp } from "portico";
import { SimpleUser } from "portico/auth";
import { field, Graph, schema, t } from "portico/graphql";
import { liveClient, manualClock, type TestClient, type TestRequest, testClient } from "portico/testing";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { overBoth } from "../../matrix.ts";
import { type BudgetAppOptions, budgetApp, quotaOf, Waiting } from "./budget-app.ts";

// The windows of the memory store end when a test says so.
beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"] }));
afterEach(() => void vi.useRealTimers());

const client = (options: BudgetAppOptions): TestClient => testClient(budgetApp(options));
const asUser = (user: string, more: Readonly<Record<string, string>> = {}): TestRequest => ({
  headers: { "x-user": user, ...more },
});
const remaining = async (sender: TestClient, request?: TestRequest): Promise<number> =>
  quotaOf((await sender.get("/", request)).headers).remaining + 1;
const ask = (sender: TestClient, body: unknown, headers = {}): ReturnType<TestClient["post"]> =>
  sender.post("/graphql", { body, headers });

overBoth(
  "charges each request to its caller, says what is left, and responds with 429 when the budget is used up",
  () => budgetApp({ budget: { addressPerMinute: 2 } }),
  async (sender) => {
    const answers = [await sender.get("/"), await sender.get("/"), await sender.get("/")];

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(answers.map(({ headers }) => headers["ratelimit-policy"])).toEqual(Array(3).fill('"address";q=2;w=60'));
    expect(answers.map(({ headers }) => quotaOf(headers).remaining)).toEqual([1, 0, 0]);
    const [, , refused] = answers;
    expect(refused?.headers["retry-after"]).toBe("60");
    expect(refused?.json()).toMatchObject({
      code: "budget_exceeded",
      detail: "The operation costs 1 of 0 remaining units, retry in 60 s",
      cost: 1,
      limit: 2,
      remaining: 0,
    });
  },
);

it("starts a new minute when the window has ended", async () => {
  const sender = client({ budget: { addressPerMinute: 7 }, clock: manualClock() });
  await sender.get("/report");

  const during = await sender.get("/");
  vi.setSystemTime(Date.now() + 59_999);
  const justBefore = await sender.get("/");
  vi.setSystemTime(Date.now() + 1);
  const after = await sender.get("/");

  expect([during.status, justBefore.status, after.status]).toEqual([429, 429, 200]);
  expect(justBefore.headers).toMatchObject({ "retry-after": "1", ratelimit: '"address";r=0;t=1' });
  expect(after.headers["ratelimit"]).toBe('"address";r=6;t=60');
});

it("sends no headers and charges nothing without a budget", async () => {
  const app = new PorticoApp({ logger: false }).get("/", { cost: 5 }, () => "hello");

  const { status, headers } = await testClient(app).get("/");

  expect(status).toBe(200);
  expect(headers).not.toHaveProperty("ratelimit");
  expect(headers).not.toHaveProperty("ratelimit-policy");
});

it("lets browsers of other origins read the headers", async () => {
  const origin = "https://shop.example";
  const { headers } = await client({ budget: { addressPerMinute: 9 }, origins: [origin] }).get("/", {
    headers: { origin },
  });

  expect(headers["access-control-expose-headers"]).toContain("ratelimit, ratelimit-policy");
});

describe("the cost of a request", () => {
  it("is that of its route, and 1 by default", async () => {
    const sender = client({ budget: { addressPerMinute: 20 } });

    await sender.get("/report");
    expect(await remaining(sender)).toBe(13);
    const free = await sender.get("/free");
    expect(free.headers).not.toHaveProperty("ratelimit");
    expect(await remaining(sender)).toBe(12);
  });

  it("is taken also if the handler fails, and the response says so", async () => {
    const sender = client({ budget: { addressPerMinute: 20 } });

    const { status, headers } = await sender.get("/missing");

    expect([status, quotaOf(headers).remaining]).toEqual([404, 19]);
    expect(await remaining(sender)).toBe(19);
  });

  it("is nothing for a request that is rejected before its handler runs", async () => {
    const sender = client({ budget: { addressPerMinute: 20 } });

    const denied = await sender.get("/mine");
    const invalid = await sender.post("/books", { body: { title: 7 } });
    const nowhere = await sender.get("/nowhere");
    const health = await sender.get("/readyz");

    expect([denied.status, invalid.status, nowhere.status, health.status]).toEqual([401, 422, 404, 200]);
    expect(await remaining(sender)).toBe(20);
  });

  it("does not make the response depend on the caller for caches", async () => {
    const { headers } = await client({ budget: { userPerMinute: 5, addressPerMinute: 5 } }).get("/", asUser("ann"));

    expect(headers["vary"] ?? "").not.toMatch(/cookie|authorization/i);
  });
});

describe("the caller", () => {
  const budget: BudgetOptions = { userPerMinute: 100, keyPerMinute: 50, addressPerMinute: 10 };

  it("is the user, the API key, or for anonymous callers the address", async () => {
    const sender = client({ budget });
    const quota = async (request?: TestRequest) => quotaOf((await sender.get("/", request)).headers);

    expect(await quota(asUser("ann"))).toEqual({ policy: "user", remaining: 99 });
    expect(await quota(asUser("ann", { "x-forwarded-for": "203.0.113.9" }))).toEqual({ policy: "user", remaining: 98 });
    expect(await quota(asUser("bob"))).toEqual({ policy: "user", remaining: 99 });
    expect(await quota(asUser("ann", { "x-key": "k1" }))).toEqual({ policy: "key", remaining: 49 });
    expect(await quota(asUser("ann", { "x-key": "k2" }))).toEqual({ policy: "key", remaining: 49 });
    expect(await quota()).toEqual({ policy: "address", remaining: 9 });
    expect(await quota({ headers: { "x-forwarded-for": "203.0.113.9" } })).toEqual({ policy: "address", remaining: 9 });
    expect(await quota({ headers: { "x-forwarded-for": "2001:db8::1" } })).toEqual({ policy: "address", remaining: 9 });
    expect(await quota({ headers: { "x-forwarded-for": "2001:db8::2" } })).toEqual({ policy: "address", remaining: 8 });
  });

  it("is the owner of an API key where keys have no budget", async () => {
    const sender = client({ budget: { userPerMinute: 100 } });
    await sender.get("/", asUser("ann", { "x-key": "k1" }));

    expect(await remaining(sender, asUser("ann", { "x-key": "k2" }))).toBe(99);
  });

  it("is the administrator who acts as a user", async () => {
    const sender = client({ budget });
    await sender.get("/report", asUser("ann", { "x-admin": "root" }));

    expect(await remaining(sender, asUser("ann"))).toBe(100);
    expect(await remaining(sender, asUser("root"))).toBe(93);
  });

  it("is not limited if its kind has no budget", async () => {
    const { status, headers } = await client({ budget: { userPerMinute: 1 } }).get("/");

    expect(status).toBe(200);
    expect(headers).not.toHaveProperty("ratelimit");
  });
});

describe("GraphQL", () => {
  it("takes the cost of the operation, and refunds the items that a list did not have", async () => {
    const sender = client({ budget: { addressPerMinute: 1_000 } });

    const books = await ask(sender, { query: "{ books(first: 100) { title } }" });
    // 5 for the field, and 1 for each of two titles.
    expect(quotaOf(books.headers).remaining).toBe(993);
    const again = await ask(sender, {
      query: "{ hello, ...F } fragment F on Query { a: authors { n: name books { title } } }",
    });

    // hello, a, and for each of two authors: n, books (2), one title.
    expect(quotaOf(again.headers).remaining).toBe(993 - 2 - 2 * 4);
    expect(await remaining(sender)).toBe(983);
  });

  it("reserves the estimate before the operation runs", async () => {
    const sender = client({ budget: { addressPerMinute: 50 } });

    const refused = await ask(sender, { query: "{ books(first: 50) { title } }" });
    const taken = await ask(sender, { query: "{ books(first: 45) { title } }" });
    const tooMuch = await ask(sender, { query: "{ books(first: 45) { title } }" });

    expect(refused.status).toBe(400);
    expect(refused.json()).toMatchObject({
      errors: [{ message: "The operation's cost is 55; the limit is 50", extensions: { code: "COST_LIMIT_EXCEEDED" } }],
    });
    expect(taken.status).toBe(200);
    expect([tooMuch.status, tooMuch.headers["retry-after"]]).toEqual([429, "60"]);
    expect(tooMuch.json()).toMatchObject({
      errors: [{ extensions: { code: "BUDGET_EXCEEDED", retryAfter: 60, cost: 50, limit: 50, remaining: 43 } }],
    });
    expect(await remaining(sender)).toBe(43);
  });

  it("refunds nothing to an operation with errors, whose response hides work", async () => {
    const sender = client({ budget: { addressPerMinute: 100 } });

    const { headers } = await ask(sender, { query: "{ books(first: 50) { title } broken }" });

    expect(quotaOf(headers).remaining).toBe(100 - 56);
  });

  it("charges 1 for each object that was loaded and that the gate of its type refused", async () => {
    const sender = client({ budget: { addressPerMinute: 1_000 } });

    const answer = await ask(sender, { query: "{ hello secrets { name } }" });

    expect(answer.json()).toMatchObject({ data: { hello: "hello", secrets: [{ name: "open" }] } });
    // hello, secrets, one name, and two secrets that are not shown.
    expect(quotaOf(answer.headers).remaining).toBe(1_000 - 5);
  });

  it("charges a query sent with GET, and skipped fields not at all", async () => {
    const sender = client({ budget: { addressPerMinute: 100 } });

    const { headers } = await sender.get("/graphql", {
      query: { query: "query($no: Boolean = false) { hello books @include(if: $no) { title } }" },
    });

    expect(quotaOf(headers).remaining).toBe(99);
  });

  it("charges nothing for an operation that is rejected before it runs", async () => {
    const sender = client({ budget: { addressPerMinute: 100 } });

    for (const query of ["{ nothing }", "{", "subscription { ticks }"])
      expect((await ask(sender, { query })).status).toBe(400);

    expect(await remaining(sender)).toBe(100);
  });

  it("charges 1 for an operation if the endpoint does not measure costs", async () => {
    const sender = client({ budget: { addressPerMinute: 100 }, graph: { limits: { cost: null } } });

    const { headers } = await ask(sender, { query: "{ books(first: 50) { title } }" });

    expect(quotaOf(headers).remaining).toBe(99);
  });

  it("charges 1 for an operation whose fields are free", async () => {
    const app = budgetApp({ budget: { addressPerMinute: 3 }, graph: { path: "/other" } });
    const free = field(t.string, { cost: 0 })(() => "free");
    new Graph(schema({ query: { free } })).mount(app);
    const sender = testClient(app);

    const answers = [];
    for (let n = 0; n < 4; n++) answers.push((await ask(sender, { query: "{ free }" })).status);

    expect(answers).toEqual([200, 200, 200, 429]);
  });

  it("is not limited for callers whose kind has no budget", async () => {
    const { status, headers } = await ask(client({ budget: { userPerMinute: 1 } }), { query: "{ hello broken }" });

    expect(status).toBe(200);
    expect(headers).not.toHaveProperty("ratelimit");
  });

  it("charges a batch the sum of its operations, and rejects those that the budget does not cover", async () => {
    const sender = client({ budget: { addressPerMinute: 10 } });
    const query = "{ books(first: 3) { title } }";

    const answer = await ask(sender, [{ query: "{ hello }" }, { query }, { query }, { query: "{ hello }" }]);

    expect([answer.status, quotaOf(answer.headers).remaining]).toEqual([200, 1]);
    expect(answer.json()).toMatchObject([
      { data: { hello: "hello" } },
      { data: { books: [{ title: "Emma" }, { title: "Persuasion" }] } },
      { errors: [{ extensions: { code: "BUDGET_EXCEEDED", cost: 8, remaining: 2 } }] },
      { data: { hello: "hello" } },
    ]);
  });

  it("shares the budget of a user with routes", async () => {
    const sender = client({ budget: { userPerMinute: 10 } });
    const ann = { "x-user": "ann" };
    await sender.get("/report", { headers: ann });

    const graph = await ask(sender, { query: "{ a: hello b: hello c: hello }" }, ann);
    const route = await sender.get("/", { headers: ann });

    expect([graph.status, quotaOf(graph.headers).remaining, route.status]).toEqual([200, 0, 429]);
  });
});

describe("subscriptions and sockets", () => {
  const live = async (options: BudgetAppOptions) => {
    const opened = await liveClient(budgetApp(options));
    onTestFinished(() => opened.close());
    return opened;
  };

  it("charge a stream over HTTP once, when it is opened", async () => {
    const sender = await live({ budget: { userPerMinute: 10 } });
    const stream = () =>
      sender.post("/graphql", {
        body: { query: "subscription { ticks }" },
        headers: { "x-user": "ann", accept: "text/event-stream" },
      });

    const [first, second, third] = [await stream(), await stream(), await stream()];

    expect([first, second].map(({ headers }) => quotaOf(headers).remaining)).toEqual([6, 2]);
    expect(first.text().match(/"ticks":\d/g)).toHaveLength(3);
    expect([third.status, third.headers["retry-after"]]).toEqual([429, "60"]);
    expect(await remaining(sender, asUser("ann"))).toBe(2);
  });

  it("charge each operation on a WebSocket, and nothing for opening it", async () => {
    const sender = await live({ budget: { userPerMinute: 10 }, graph: { subscriptions: { operations: true } } });
    const socket = await sender.socket("/graphql", {
      protocols: ["graphql-transport-ws"],
      headers: { "x-user": "ann" },
    });
    const heard: unknown[] = [];
    const run = async (id: string, query: string): Promise<unknown> => {
      socket.send(JSON.stringify({ id, type: "subscribe", payload: { query } }));
      for (;;) {
        const message = JSON.parse(await socket.next()) as { readonly id?: string; readonly type: string };
        heard.push(message);
        if (message.id === id && message.type !== "next") return message;
      }
    };
    socket.send(JSON.stringify({ type: "connection_init" }));
    await socket.next();
    expect(await remaining(sender, asUser("ann"))).toBe(10);

    expect(await run("1", "subscription { ticks }")).toMatchObject({ type: "complete" });
    expect(await run("2", "{ hello }")).toMatchObject({ type: "complete" });
    expect(await run("3", "{ books(first: 4) { title } }")).toEqual({
      id: "3",
      type: "error",
      payload: [
        expect.objectContaining({
          extensions: expect.objectContaining({ code: "BUDGET_EXCEEDED", retryAfter: 60, cost: 9, remaining: 4 }),
        }),
      ],
    });
    expect(await run("4", "subscription { ticks }")).toMatchObject({ type: "complete" });
    expect(await run("5", "{ hello }")).toMatchObject({ type: "error" });
    expect(heard.filter((message) => (message as { type: string }).type === "next")).toHaveLength(7);
    socket.close();
  });

  it("charge in full an operation on a WebSocket that its client cancels", async () => {
    const waiting = new Waiting();
    const sender = await live({
      budget: { userPerMinute: 100 },
      waiting,
      graph: { subscriptions: { operations: true } },
    });
    const socket = await sender.socket("/graphql", {
      protocols: ["graphql-transport-ws"],
      headers: { "x-user": "ann" },
    });
    const say = (message: object): void => socket.send(JSON.stringify(message));
    say({ type: "connection_init" });
    await socket.next();

    say({ id: "1", type: "subscribe", payload: { query: "{ books(first: 40) { title } waiting }" } });
    await vi.waitFor(() => expect(waiting.started).toBe(1), { timeout: 60_000 });
    say({ id: "1", type: "complete" });
    say({ id: "2", type: "subscribe", payload: { query: "{ hello }" } });
    await socket.next();
    waiting.letGo();
    say({ id: "3", type: "subscribe", payload: { query: "{ hello }" } });
    while (!(await socket.next()).includes('"id":"3"'));

    // 46 for the operation that was cancelled, and 1 for each of the others.
    expect(await remaining(sender, asUser("ann"))).toBe(100 - 46 - 2);
    socket.close();
  });

  it("charge the upgrade of another socket like a request", async () => {
    const sender = await live({ budget: { userPerMinute: 1 } });

    const socket = await sender.socket("/echo", { headers: { "x-user": "ann" } });
    const refused = sender.socket("/echo", { headers: { "x-user": "ann" } });

    await expect(refused).rejects.toMatchObject({ response: { status: 429, headers: { "retry-after": "60" } } });
    socket.close();
  });
});

describe("maxInFlight", () => {
  const started = async (waiting: Waiting, count: number): Promise<void> => {
    await expect.poll(() => waiting.started).toBe(count);
  };

  it("limits how many operations of one caller run at once, over routes and GraphQL together", async () => {
    const waiting = new Waiting();
    const sender = client({ budget: { userPerMinute: 100, maxInFlight: 2 }, waiting });
    const ann = { "x-user": "ann" };
    const running = [sender.get("/waiting", { headers: ann }), ask(sender, { query: "{ waiting }" }, ann)];
    await started(waiting, 2);

    const route = await sender.get("/", { headers: ann });
    const graph = await ask(sender, { query: "{ hello }" }, ann);
    const other = await sender.get("/", asUser("bob"));
    waiting.letGo();
    const answers = await Promise.all(running);

    expect([route.status, route.headers["retry-after"], graph.status, other.status]).toEqual([429, "1", 429, 200]);
    expect(route.json()).toMatchObject({ code: "too_many_operations" });
    expect(graph.json()).toMatchObject({ errors: [{ extensions: { code: "TOO_MANY_OPERATIONS", retryAfter: 1 } }] });
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    // What was rejected has cost nothing, and the places are free again.
    expect(await remaining(sender, asUser("ann"))).toBe(98);
  });

  it("counts neither open subscriptions nor operations that were rejected or failed", async () => {
    const app = budgetApp({ budget: { maxInFlight: 1, addressPerMinute: 6 } });
    const sender = await liveClient(app);
    onTestFinished(() => sender.close());
    const events = sender.subscribe("subscription { endless }");
    expect((await events.next()).value).toMatchObject({ data: { endless: 1 } });

    const answers = [
      (await sender.get("/missing")).status,
      (await sender.post("/books", { body: {} })).status,
      (await sender.get("/")).status,
      (await sender.get("/")).status,
    ];

    expect(answers).toEqual([404, 422, 200, 429]);
    await events.return();
  });

  it("counts a streamed response until its end or until its client disconnects, but not a stream of events", async () => {
    const app = budgetApp({ budget: { maxInFlight: 1 } });
    app.get("/export", ({ response }) => response.stream(rows(), "text/csv"));
    app.get("/events", ({ response }) => response.stream(rows(), "text/event-stream"));
    const sender = await liveClient(app);
    onTestFinished(() => sender.close());
    const open = (path: string): Promise<Response> => fetch(sender.url + path);

    const events = await open("/events");
    const first = await open("/export");
    const refused = await open("/export");
    await Promise.all([first.body?.cancel(), refused.body?.cancel()]);
    await expect.poll(async () => (await sender.get("/")).status).toBe(200);
    await events.body?.cancel();

    expect([events, first, refused].map(({ status }) => status)).toEqual([200, 200, 429]);

    async function* rows(): AsyncGenerator<string> {
      for (;;) {
        yield "row";
        await sleep(1);
      }
    }
  });

  it("counts an operation on a WebSocket that timed out until its resolvers have ended", async () => {
    const waiting = new Waiting();
    const graph = { timeoutSeconds: 0.1, subscriptions: { operations: true } };
    const sender = await liveClient(budgetApp({ budget: { maxInFlight: 1 }, waiting, graph }));
    onTestFinished(() => sender.close());
    const socket = await sender.socket("/graphql", { protocols: ["graphql-transport-ws"] });
    socket.send(JSON.stringify({ type: "connection_init" }));
    await socket.next();
    const run = (id: string): Promise<string> => {
      socket.send(JSON.stringify({ id, type: "subscribe", payload: { query: "{ waiting }" } }));
      return socket.next();
    };

    expect(await run("1")).toContain("HANDLER_TIMEOUT");
    expect(await run("2")).toContain("TOO_MANY_OPERATIONS");
    expect(waiting.started).toBe(1);
    waiting.letGo();
    await expect.poll(async () => (await sender.get("/")).status).toBe(200);
    socket.close();
  });

  it("forgets an operation after a minute, so that one that hangs does not block its caller", async () => {
    const waiting = new Waiting();
    const clock = manualClock();
    const sender = client({ budget: { maxInFlight: 1 }, waiting, clock });
    const running = sender.get("/waiting");
    await started(waiting, 1);

    clock.advance(59_999);
    expect((await sender.get("/")).status).toBe(429);
    clock.advance(1);
    expect((await sender.get("/")).status).toBe(200);

    waiting.letGo();
    expect((await running).status).toBe(200);
  });
});

describe("options", () => {
  it.each<[BudgetOptions, string]>([
    [{}, "PorticoApp.budget requires one of userPerMinute, keyPerMinute, addressPerMinute, maxInFlight"],
    [
      { userPerMinute: 0 },
      "PorticoApp.budget.userPerMinute must be a whole number from 1 to 1,000,000,000, received 0",
    ],
    [{ keyPerMinute: 1.5 }, "PorticoApp.budget.keyPerMinute must be"],
    [{ addressPerMinute: 1_000_000_001 }, "PorticoApp.budget.addressPerMinute must be"],
    [{ addressPerMinute: undefined } as unknown as BudgetOptions, "PorticoApp.budget.addressPerMinute must be"],
    [{ maxInFlight: -1 }, "PorticoApp.budget.maxInFlight must be a positive integer"],
    [{ perMinute: 1 } as BudgetOptions, 'PorticoApp.budget: unknown option "perMinute"'],
  ])("%j stop the application", (budget, message) => {
    expect(() => new PorticoApp({ budget })).toThrow(ConfigurationError);
    expect(() => new PorticoApp({ budget })).toThrow(message);
  });

  it("need a counter store that can reserve", () => {
    const { durable, bus, counters } = memoryStores();
    const old = { increment: counters.increment.bind(counters), reset: counters.reset.bind(counters) };

    expect(() => new PorticoApp({ budget: { maxInFlight: 1 }, stores: { durable, bus, counters: old } })).toThrow(
      "PorticoApp.budget requires a counter store with reserve()",
    );
  });

  it("must cover the cost of every route, or the application does not start", async () => {
    const app = new PorticoApp({ logger: false, budget: { userPerMinute: 10, addressPerMinute: 5 } });
    app.get("/report", { cost: 6 }, () => "report");

    await expect(app.inject("/report")).rejects.toThrow("GET /report.cost must be at most budget.addressPerMinute (5)");
  });

  it("need not cover the cost of a route for callers that its gate denies", async () => {
    const app = new PorticoApp({ logger: false, budget: { userPerMinute: 10, addressPerMinute: 5 } });
    app.get("/report", { cost: 6, auth: true }, () => "report");

    expect((await app.inject("/report")).status).toBe(401);
  });

  it.each([-1, 0.5, "1"])("reject %j as the cost of a route", (cost) => {
    expect(() => new PorticoApp().get("/", { cost: cost as number }, () => "")).toThrow(
      "GET /.cost must be a whole number",
    );
  });
});

it("counts in the memory of the process while the store fails", async () => {
  const { counters, ...others } = memoryStores();
  const broken = {
    increment: counters.increment.bind(counters),
    reset: counters.reset.bind(counters),
    reserve: () => Promise.reject(new Error("the store is down")),
  };
  const sender = client({ budget: { userPerMinute: 2 }, stores: { ...others, counters: broken } });

  const answers = [];
  for (let n = 0; n < 3; n++) answers.push((await sender.as(new SimpleUser("ann")).get("/")).status);

  expect(answers).toEqual([200, 200, 429]);
});
