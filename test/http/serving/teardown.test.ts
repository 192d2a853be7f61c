import { setTimeout as sleep } from "node:timers/promises";
import { Depend, type Outcome, PorticoApp, type PorticoAppOptions, provide, ServiceUnavailable } from "portico";
import { type LiveClient, liveClient, logCatcher } from "portico/testing";
import { afterEach, describe, expect, it } from "vitest";
import { rawConnection } from "../raw-connection.ts";

/** A dependency that remembers how often it was opened and closed, and with which outcome. */
function ledger() {
  const entries = { opened: 0, closed: 0, outcomes: [] as Outcome[] };
  const connection = provide(async function* ({ ctx }) {
    entries.opened++;
    try {
      await Promise.resolve();
      yield { query: () => "row" };
    } finally {
      entries.closed++;
      entries.outcomes.push(ctx.outcome);
    }
  });
  return { entries, connection };
}

let client: LiveClient | undefined;
afterEach(async () => {
  await client?.close();
  client = undefined;
});
async function start(app: PorticoApp): Promise<LiveClient> {
  client = await liveClient(app);
  return client;
}
const quiet: PorticoAppOptions = { logger: false };

describe("a dependency is torn down exactly once", () => {
  it("after success, with the outcome of it", async () => {
    const { entries, connection } = ledger();
    const app = new PorticoApp(quiet).get("/", { params: { db: Depend(connection) } }, ({ db }) => db.query());

    const answer = await (await start(app)).get("/");

    expect(answer.json()).toBe("row");
    expect(entries).toEqual({ opened: 1, closed: 1, outcomes: ["success"] });
  });

  it("before the response is sent: a response that says saved is true", async () => {
    const { entries, connection } = ledger();
    const slow = provide({ db: Depend(connection) })(async function* () {
      try {
        yield 1;
      } finally {
        await sleep(50);
        expect(entries.closed).toBe(0);
      }
    });
    const app = new PorticoApp(quiet).get("/", { params: { slow: Depend(slow) } }, () => "saved");

    await (await start(app)).get("/");

    expect(entries.closed).toBe(1);
  });

  it("after the handler's error, with the outcome of it", async () => {
    const { entries, connection } = ledger();
    const app = new PorticoApp(quiet).get("/", { params: { db: Depend(connection) } }, () => {
      throw new Error("no");
    });

    const answer = await (await start(app)).get("/");

    expect(answer.status).toBe(500);
    expect(entries).toEqual({ opened: 1, closed: 1, outcomes: ["failure"] });
  });

  it("when another one fails to open", async () => {
    const { entries, connection } = ledger();
    const broken = async (): Promise<number> => {
      await sleep(5);
      throw new Error("no database");
    };
    const app = new PorticoApp(quiet).get(
      "/",
      { params: { db: Depend(connection), broken: Depend(broken) } },
      () => "never",
    );

    const answer = await (await start(app)).get("/");

    expect(answer.status).toBe(500);
    expect(entries).toEqual({ opened: 1, closed: 1, outcomes: ["failure"] });
  });

  it("when the teardown of another fails, which is a 500 and logged", async () => {
    const { entries, connection } = ledger();
    const log = logCatcher();
    const broken = function* () {
      try {
        yield 1;
      } finally {
        // oxlint-disable-next-line no-unsafe-finally -- a teardown that fails is the case at hand
        throw new Error("commit failed");
      }
    };
    const params = { first: Depend(connection), broken: Depend(broken), last: Depend(connection) };
    const app = new PorticoApp({ logger: log }).get("/", { params }, () => "saved");

    const answer = await (await start(app)).get("/");

    expect(answer.status).toBe(500);
    expect(entries).toMatchObject({ opened: 2, closed: 2 });
    expect(log.lines.filter(({ level }) => level === "error").map(({ msg }) => msg)).toEqual(["commit failed"]);
  });

  it("after the client has left", async () => {
    const { entries, connection } = ledger();
    const app = new PorticoApp(quiet).get("/", { params: { db: Depend(connection) } }, async ({ ctx }) => {
      await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
    });
    const { port } = await start(app);
    const raw = await rawConnection(port);

    raw.socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await expect.poll(() => entries.opened).toBe(1);
    expect(entries.closed).toBe(0);
    raw.socket.destroy();

    await expect.poll(() => entries.closed).toBe(1);
    expect(entries.opened).toBe(1);
  });

  it("after the request timed out and the handler has noticed", async () => {
    const { entries, connection } = ledger();
    const options = { params: { db: Depend(connection) }, timeoutSeconds: 0.05 };
    const app = new PorticoApp(quiet).get("/", options, async ({ ctx }) => {
      await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
      await sleep(20);
    });

    const answer = await (await start(app)).get("/");

    expect(answer.status).toBe(503);
    expect(answer.json()).toMatchObject({ code: "handler_timeout" });
    await expect.poll(() => entries.closed).toBe(1);
    await sleep(50);
    expect(entries).toEqual({ opened: 1, closed: 1, outcomes: ["failure"] });
  });

  it("after the grace time when the handler never notices", async () => {
    const { entries, connection } = ledger();
    const options = { params: { db: Depend(connection) }, timeoutSeconds: 0.05 };
    const app = new PorticoApp({ ...quiet, timeouts: { graceSeconds: 0.1 } }).get(
      "/",
      options,
      () => new Promise(() => {}),
    );

    const answer = await (await start(app)).get("/");

    expect(answer.status).toBe(503);
    expect(entries.closed).toBe(0);
    await expect.poll(() => entries.closed).toBe(1);
    expect(entries.outcomes).toEqual(["failure"]);
  });

  it("after a stream has ended, not before", async () => {
    const { entries, connection } = ledger();
    const app = new PorticoApp(quiet).get("/", { params: { db: Depend(connection) } }, ({ response, db }) =>
      response.stream(
        (async function* () {
          for (let row = 0; row < 3; row++) {
            await sleep(10);
            expect(entries.closed).toBe(0);
            yield db.query();
          }
        })(),
        "text/plain",
      ),
    );

    const answer = await (await start(app)).get("/");

    expect(answer.text()).toBe("rowrowrow");
    await expect.poll(() => entries.closed).toBe(1);
  });

  it("after the client has left in the middle of a stream", async () => {
    const { entries, connection } = ledger();
    const app = new PorticoApp(quiet).get("/", { params: { db: Depend(connection) } }, ({ response }) =>
      response.stream(
        (async function* () {
          for (;;) {
            await sleep(5);
            yield "row";
          }
        })(),
      ),
    );
    const { port } = await start(app);
    const raw = await rawConnection(port);
    raw.socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await raw.until("row");

    raw.socket.destroy();

    await expect.poll(() => entries.closed).toBe(1);
    expect(entries.opened).toBe(1);
  });

  it("when a socket is closed by the client, by the handler, and by a crash of the client", async () => {
    const { entries, connection } = ledger();
    const app = new PorticoApp(quiet).socket("/ws", { params: { db: Depend(connection) } }, async ({ socket }) => {
      for await (const message of socket) if (message === "bye") return;
    });
    const live = await start(app);
    const [polite, dismissed, crashed] = [await live.socket("/ws"), await live.socket("/ws"), await live.socket("/ws")];
    expect(entries).toMatchObject({ opened: 3, closed: 0 });

    polite.close();
    dismissed.send("bye");
    crashed.terminate();

    await expect.poll(() => entries.closed).toBe(3);
    expect((await dismissed.closed).code).toBe(1000);
    expect(entries.outcomes).toEqual(["success", "success", "success"]);
  });

  it("when the handler of a socket fails, with the outcome of it", async () => {
    const { entries, connection } = ledger();
    const app = new PorticoApp(quiet).socket("/ws", { params: { db: Depend(connection) } }, () => {
      throw new Error("no");
    });

    const socket = await (await start(app)).socket("/ws");

    expect((await socket.closed).code).toBe(1011);
    await expect.poll(() => entries).toEqual({ opened: 1, closed: 1, outcomes: ["failure"] });
  });

  it("of those opened for a socket that is then rejected", async () => {
    const { entries, connection } = ledger();
    const broken = (): number => {
      throw new Error("no");
    };
    const app = new PorticoApp(quiet).socket(
      "/ws",
      { params: { db: Depend(connection), broken: Depend(broken) } },
      () => {},
    );

    await expect((await start(app)).socket("/ws")).rejects.toThrow("500");

    await expect.poll(() => entries).toEqual({ opened: 1, closed: 1, outcomes: ["failure"] });
  });
});

it("responds with 503 if a teardown hangs: the time limit covers it", async () => {
  const hanging = async function* () {
    try {
      yield 1;
    } finally {
      await new Promise(() => {});
    }
  };
  const options = { params: { hanging: Depend(hanging) }, timeoutSeconds: 0.1 };
  const app = new PorticoApp(quiet).get("/", options, () => "saved");

  const answer = await (await start(app)).get("/");

  expect(answer.json()).toMatchObject({ status: 503, code: "handler_timeout" });
});

it("logs the timeout of a handler, which may be at fault", async () => {
  const log = logCatcher();
  const app = new PorticoApp({ ...quiet, logger: log }).get("/", { timeoutSeconds: 0.05 }, ({ ctx }) => {
    return new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
  });

  await (await start(app)).get("/");

  expect(log.lines.map((line) => JSON.stringify(line)).join()).toContain("No response within 0.05 s");
});

it("keeps the output of a late handler out of the timeout response", async () => {
  const [timedOut, isDone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const app = new PorticoApp(quiet)
    .addExceptionHandler(ServiceUnavailable, async (_request, response) => {
      timedOut.resolve();
      await isDone.promise;
      return response.status(503).json("too late");
    })
    .get("/", { timeoutSeconds: 0.05 }, async ({ response }) => {
      await timedOut.promise;
      setImmediate(isDone.resolve);
      return response.status(201).header("x-late", "1").json("done after all");
    });

  const answer = await (await start(app)).get("/");

  expect([answer.status, answer.json(), answer.headers["x-late"]]).toEqual([503, "too late", undefined]);
});

it("leaves none open after 1,000 concurrent requests that succeed, fail, time out and disconnect", async () => {
  const { entries, connection } = ledger();
  const nested = provide({ a: Depend(connection), b: Depend(connection) })(({ a, b }) => [a, b]);
  const params = { db: Depend(connection), nested: Depend(nested) };
  let request = 0;
  const app = new PorticoApp({ ...quiet, timeouts: { graceSeconds: 0.2 } })
    .get("/well", { params }, async () => {
      await sleep((request++ * 7) % 20);
      return "well";
    })
    .get("/ill", { params }, async () => {
      await sleep((request++ * 7) % 20);
      throw new Error("ill");
    })
    .get("/late", { params, timeoutSeconds: 0.02 }, () => sleep(100))
    .get("/gone", { params }, ({ ctx }) => new Promise((resolve) => ctx.signal.addEventListener("abort", resolve)));
  const live = await start(app);

  await Promise.all(
    Array.from({ length: 1_000 }, async (_, index) => {
      const path = ["/well", "/ill", "/late", "/gone"][index % 4] as string;
      if (path !== "/gone") return void (await live.get(path));
      const raw = await rawConnection(live.port);
      raw.socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
      await sleep(100);
      raw.socket.destroy();
    }),
  );

  await expect.poll(() => entries.opened - entries.closed).toBe(0);
  expect(entries.opened).toBeGreaterThanOrEqual(3 * 750);
});

it("closes in the reverse order of opening", async () => {
  const order: string[] = [];
  const opens = (name: string) =>
    function* () {
      order.push(`open ${name}`);
      try {
        yield name;
      } finally {
        order.push(`close ${name}`);
      }
    };
  const inner = opens("inner");
  const outer = provide({ inner: Depend(inner) })(opens("outer"));
  const app = new PorticoApp(quiet).get("/", { params: { outer: Depend(outer), last: Depend(opens("last")) } }, () =>
    order.push("handler"),
  );

  await app.inject("/");

  expect(order).toEqual([
    "open inner",
    "open outer",
    "open last",
    "handler",
    "close last",
    "close outer",
    "close inner",
  ]);
});
