import { Duplex } from "node:stream";
import { identify, PorticoApp, type PorticoAppOptions } from "portico";
import { SimpleUser } from "portico/auth";
import { manualClock, type SocketRefused, type TestResponse, testClient } from "portico/testing";
import { describe, expect, it } from "vitest";
import { startApp } from "../../http/start-app.ts";

/** Requests of one caller that wait until the test ends each of them. */
function waiting(options: PorticoAppOptions) {
  const open: PromiseWithResolvers<string>[] = [];
  const app = new PorticoApp({ logger: false, ...options })
    .get("/", () => "hello")
    .get("/waiting", () => {
      const handler = Promise.withResolvers<string>();
      open.push(handler);
      return handler.promise;
    });
  const client = testClient(app);
  const begin = async (): Promise<() => Promise<TestResponse>> => {
    const count = open.length;
    const answer = client.get("/waiting");
    await expect.poll(() => open.length).toBe(count + 1);
    return () => {
      open[count]?.resolve("done");
      return answer;
    };
  };
  return { client, begin };
}
const codeOf = (answer: TestResponse): unknown => (answer.json() as { code?: unknown }).code ?? answer.status;

describe("maxInFlight", () => {
  it("is the number of operations that have not ended, in whichever order they end", async () => {
    const { client, begin } = waiting({ budget: { maxInFlight: 2 } });
    const [first, second] = [await begin(), await begin()];
    const refused = await client.get("/");

    await first();
    const third = await begin();
    const refusedAgain = await client.get("/");
    await second();
    await third();

    expect([refused.status, refused.headers["retry-after"], refused.json()]).toEqual([
      429,
      "1",
      expect.objectContaining({
        code: "too_many_operations",
        detail: "Too many operations at once: the limit per caller is 2",
      }),
    ]);
    expect(codeOf(refusedAgain)).toBe("too_many_operations");
    expect((await client.get("/")).status).toBe(200);
  });

  it("leaves out requests that are rejected because of the budget", async () => {
    const { client } = waiting({ budget: { maxInFlight: 1, addressPerMinute: 1 } });
    const codes: unknown[] = [];

    for (let n = 0; n < 3; n++) codes.push(codeOf(await client.get("/")));

    expect(codes).toEqual([200, "budget_exceeded", "budget_exceeded"]);
  });

  it.each([
    ["a stream is in flight until its end", "text/csv", undefined, true],
    ["a stream of events is not in flight", "text/event-stream", undefined, false],
    [
      "a stream that its header declares as events is not in flight",
      "text/plain",
      "Text/Event-Stream; charset=utf-8",
      false,
    ],
    [
      "a stream whose type only begins like that of events is in flight",
      "text/event-stream",
      "text/event-streams",
      true,
    ],
  ])("%s", async (_name, type, header, isInFlight) => {
    const streams: Duplex[] = [];
    const app = new PorticoApp({ logger: false, budget: { maxInFlight: 1 } })
      .get("/", () => "hello")
      .get("/stream", ({ response }) => {
        // It can also be written to, which has nothing to do with the response.
        const stream = new Duplex({ read: () => {}, write: () => {} });
        streams.push(stream);
        if (header !== undefined) response.header("content-type", header);
        return response.stream(stream, type);
      });
    const client = testClient(app);
    const answer = client.get("/stream");
    await expect.poll(() => streams.length).toBe(1);
    streams[0]?.push("row");

    const during = await client.get("/");
    streams[0]?.push(null);
    expect((await answer).text()).toBe("row");

    expect(during.status).toBe(isInFlight ? 429 : 200);
    await expect.poll(async () => (await client.get("/")).status).toBe(200);
  });
});

it("an upgrade that the budget rejects is not in flight afterwards", async () => {
  const budget = { maxInFlight: 1, addressPerMinute: 1 };
  const client = await startApp((app) => app.socket("/ws", () => {}), { budget });
  const codes: unknown[] = [];

  for (let n = 0; n < 3; n++)
    codes.push(
      await client.socket("/ws").then(
        () => "open",
        (refusal: SocketRefused) => codeOf(refusal.response),
      ),
    );

  expect(codes).toEqual(["open", "budget_exceeded", "budget_exceeded"]);
});

it("an API key without an id uses the budget of its user", async () => {
  const app = (credential?: { id?: string }): PorticoApp =>
    new PorticoApp({ logger: false, budget: { userPerMinute: 9, keyPerMinute: 5 } })
      .use(async (ctx, next) => {
        const identity = { user: new SimpleUser("ann"), auth: "apikey" } as const;
        identify(ctx, credential === undefined ? identity : { ...identity, credential });
        await next();
      })
      .get("/", () => "hello");
  const policy = async (credential?: { id?: string }): Promise<unknown> =>
    (await testClient(app(credential)).get("/")).headers["ratelimit-policy"];

  expect([await policy(), await policy({}), await policy({ id: "key:1" })]).toEqual([
    '"user";q=9;w=60',
    '"user";q=9;w=60',
    '"key";q=5;w=60',
  ]);
});

describe("the headers of a budget", () => {
  it("say when the window ends, however long the process and the request have run", async () => {
    const clock = manualClock();
    const app = new PorticoApp({ logger: false, clock, budget: { addressPerMinute: 10 } }).get("/:ms", ({ path }) => {
      clock.advance(Number(path.ms));
      return "done";
    });
    const client = testClient(app);
    clock.advance(25_000);

    const [quick, slow] = [await client.get("/0"), await client.get("/10000")];
    const late = await client.get("/70000");

    expect(quick.headers).toMatchObject({ ratelimit: '"address";r=9;t=60', "ratelimit-policy": '"address";q=10;w=60' });
    expect(slow.headers["ratelimit"]).toBe('"address";r=8;t=50');
    expect(late.headers["ratelimit"]).toBe('"address";r=7;t=0');
  });
});

it("a route that costs more than a whole budget is an error at startup, which names the budget", async () => {
  const start = (budget: NonNullable<PorticoAppOptions["budget"]>, auth = false): Promise<unknown> =>
    new PorticoApp({ logger: false, budget }).get("/report", { cost: 7, auth }, () => "report").inject("/");

  await expect(start({ userPerMinute: 6 })).rejects.toThrow(
    "GET /report.cost must be at most budget.userPerMinute (6), received 7",
  );
  await expect(start({ keyPerMinute: 5 })).rejects.toThrow("at most budget.keyPerMinute (5), received 7");
  await expect(start({ addressPerMinute: 4 })).rejects.toThrow("at most budget.addressPerMinute (4), received 7");
  await expect(start({ addressPerMinute: 4 }, true)).resolves.toBeDefined();
  await expect(start({ addressPerMinute: 7 })).resolves.toBeDefined();
});
