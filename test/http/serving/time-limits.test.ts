import { setImmediate as turn } from "node:timers/promises";
import { Depend, PorticoApp, type PorticoAppOptions, provide } from "portico";
import { type LogCatcher, logCatcher, type TestResponse, testClient } from "portico/testing";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { rawConnection } from "../raw-connection.ts";
import { startApp } from "../start-app.ts";

/** Different each time, because all limits of one length share a timer. */
let seconds = 1;
beforeEach(() => void (seconds += 1 / 4));
afterEach(() => {
  if (vi.isFakeTimers()) vi.advanceTimersByTime(1_000_000);
  vi.useRealTimers();
});

/** From now on, time passes only when a test says so. */
const stopTime = (): void => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });

/** Lets some time pass, and then everything happen that does not wait for a timer. */
async function pass(ms: number): Promise<void> {
  vi.advanceTimersByTime(ms);
  for (let n = 0; n < 50; n++) await turn();
}

/** A value that arrives later, and whether it has. */
class Later<T> {
  hasCome = false;
  readonly value: Promise<T>;
  constructor(value: Promise<T>) {
    this.value = value.finally(() => {
      this.hasCome = true;
    });
  }
}

/** A route whose handler waits until the test lets it go on, and the log. */
function waiting(options: PorticoAppOptions = {}) {
  const log = logCatcher();
  const handlers: PromiseWithResolvers<string>[] = [];
  const app = new PorticoApp({ logger: log, ...options }).get("/", { timeoutSeconds: seconds }, () => {
    const handler = Promise.withResolvers<string>();
    handlers.push(handler);
    return handler.promise;
  });
  const client = testClient(app);
  const send = async (): Promise<Later<TestResponse>> => {
    const count = handlers.length;
    const answer = new Later(client.get("/"));
    while (handlers.length === count) await turn();
    return answer;
  };
  return { send, handlers, log, app };
}
const errorsIn = (log: LogCatcher): readonly string[] =>
  log.lines.filter(({ level }) => level === "error").map(({ msg }) => msg);

describe("a handler that takes too long", () => {
  it("gets a 503 when its time has passed, not before, and the log says so", async () => {
    const { send, log } = waiting();
    stopTime();
    const answer = await send();

    await pass(seconds * 1000 - 1);
    expect(answer.hasCome).toBe(false);
    await pass(1);

    const refused = await answer.value;
    expect([refused.status, refused.headers["retry-after"], refused.json()]).toEqual([
      503,
      "1",
      expect.objectContaining({ code: "handler_timeout", detail: `No response within ${seconds} s` }),
    ]);
    expect(log.lines).toMatchObject([
      { level: "error", msg: `No response within ${seconds} s`, method: "GET", path: "/" },
    ]);
  });

  it("has its own time, however many requests have the same limit", async () => {
    const { send, handlers } = waiting();
    stopTime();
    const first = await send();
    await pass(100);
    const quick = await send();
    await pass(100);
    const last = await send();
    expect(vi.getTimerCount()).toBe(1);
    handlers[1]?.resolve("in time");
    expect((await quick.value).json()).toBe("in time");

    await pass(seconds * 1000 - 201);
    expect([first.hasCome, last.hasCome]).toEqual([false, false]);
    await pass(1);
    expect([first.hasCome, last.hasCome]).toEqual([true, false]);
    await pass(199);
    expect(last.hasCome).toBe(false);
    await pass(1);
    expect(last.hasCome).toBe(true);

    // None is left now, so the next request starts the timer anew.
    const next = await send();
    await pass(seconds * 1000 - 1);
    expect(next.hasCome).toBe(false);
    await pass(1);
    expect((await next.value).status).toBe(503);
  });

  it("is told by its signal, and its dependencies stay open for the grace time", async () => {
    const ends: unknown[] = [];
    const transaction = provide(async function* ({ ctx }) {
      try {
        yield 1;
      } finally {
        ends.push(ctx.outcome);
      }
    });
    const log = logCatcher();
    const reasons: DOMException[] = [];
    const options = { params: { transaction: Depend(transaction) }, timeoutSeconds: seconds };
    const app = new PorticoApp({ logger: log, timeouts: { graceSeconds: 5 } }).get("/", options, ({ ctx }) => {
      ctx.signal.addEventListener("abort", () => reasons.push(ctx.signal.reason));
      return new Promise(() => {});
    });
    stopTime();
    const answer = testClient(app).get("/");
    await pass(0);

    await pass(seconds * 1000);
    expect((await answer).status).toBe(503);
    expect(reasons.map(({ name, message }) => [name, message])).toEqual([["TimeoutError", "The request timed out"]]);
    await pass(4_999);
    expect(ends).toEqual([]);
    await pass(1);
    expect(ends).toEqual(["failure"]);
  });

  it("closes its dependencies at once if it ends late, and the log has the errors of closing them", async () => {
    const log = logCatcher();
    const late = Promise.withResolvers<string>();
    const broken = provide(async function* () {
      try {
        yield 1;
      } finally {
        await Promise.reject(new Error("cannot roll back"));
      }
    });
    const options = { params: { broken: Depend(broken) }, timeoutSeconds: seconds };
    const app = new PorticoApp({ logger: log, timeouts: { graceSeconds: 3600 } }).get("/", options, () => late.promise);
    stopTime();
    const answer = testClient(app).get("/");
    await pass(0);

    await pass(seconds * 1000);
    expect((await answer).status).toBe(503);
    late.resolve("too late");
    await pass(0);

    expect(errorsIn(log)).toEqual([`No response within ${seconds} s`, "cannot roll back"]);
  });

  it("may also be closing its dependencies, whose errors are then only in the log", async () => {
    const log = logCatcher();
    const rest = Promise.withResolvers<void>();
    const slow = (name: string) =>
      provide(async function* () {
        try {
          yield 1;
        } finally {
          await rest.promise.then(() => Promise.reject(new Error(name)));
        }
      });
    const params = { one: Depend(slow("one is broken")), two: Depend(slow("two is broken")) };
    const app = new PorticoApp({ logger: log }).get("/", { params, timeoutSeconds: seconds }, () => "saved");
    stopTime();
    const answer = testClient(app).get("/");
    await pass(0);

    await pass(seconds * 1000);
    expect((await answer).json()).toMatchObject({ code: "handler_timeout" });
    rest.resolve();
    await pass(0);

    expect(errorsIn(log)).toEqual([`No response within ${seconds} s`, "two is broken", "one is broken"]);
  });

  it("has no limit with handlerSeconds: 0", async () => {
    const handler = Promise.withResolvers<string>();
    const app = new PorticoApp({ logger: false, timeouts: { handlerSeconds: 0 } }).get("/", () => handler.promise);
    stopTime();
    const answer = new Later(testClient(app).get("/"));

    await pass(900_000);
    expect(answer.hasCome).toBe(false);
    handler.resolve("at last");

    expect((await answer.value).json()).toBe("at last");
  });
});

describe("a body that takes long to arrive", () => {
  /** Sends the beginning of a body to a route that reads it, and then may wait itself. */
  async function arriving(timeouts: NonNullable<PorticoAppOptions["timeouts"]>) {
    const log = logCatcher();
    const [reading, read] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const client = await startApp(
      (app) =>
        app.post("/:mode", async ({ request, path }) => {
          const body = request.json();
          reading.resolve();
          const value = await body;
          read.resolve();
          return path.mode === "hang" ? new Promise(() => {}) : value;
        }),
      { timeouts: { headersSeconds: 1, ...timeouts }, logger: log },
    );
    const connection = await rawConnection(client.port);
    stopTime();
    const begin = async (mode: "hang" | "echo"): Promise<void> => {
      connection.socket.write(
        `POST /${mode} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 4\r\n\r\n[`,
      );
      await reading.promise;
      await pass(0);
    };
    return { connection, begin, read: read.promise, log };
  }

  it("has requestSeconds, and the response is a 408", async () => {
    const { begin, connection, log } = await arriving({ handlerSeconds: seconds, requestSeconds: seconds * 2.5 });
    await begin("echo");

    await pass(seconds * 2_500 - 1);
    expect(connection.received()).toBe("");
    await pass(1);

    expect(await connection.until("}")).toMatch(/^HTTP\/1\.1 408 /);
    expect(connection.received()).toContain(
      '"detail":"The request body did not arrive in time","code":"request_timeout"',
    );
    expect(errorsIn(log)).toEqual([]);
  });

  it("leaves its handler all of its time", async () => {
    const { begin, connection, read } = await arriving({ handlerSeconds: seconds, requestSeconds: 100 });
    await begin("hang");

    await pass(seconds * 1_500);
    connection.socket.write("12]");
    await read;
    await pass(seconds * 500 - 1);
    expect(connection.received()).toBe("");
    await pass(1);

    expect(await connection.until("}")).toMatch(/^HTTP\/1\.1 503 /);
  });

  it("has no limit with requestSeconds: 0", async () => {
    const { begin, connection } = await arriving({
      headersSeconds: 0,
      requestSeconds: 0,
      handlerSeconds: seconds,
    });
    await begin("echo");

    await pass(900_000);
    expect(connection.received()).toBe("");
    connection.socket.write("12]");

    expect(await connection.until("[12]")).toMatch(/^HTTP\/1\.1 200 /);
  });
});
