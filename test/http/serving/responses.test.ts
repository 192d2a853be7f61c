import { Duplex, Readable } from "node:stream";
import { Depend, HttpException, PorticoApp, type PorticoResponse, provide } from "portico";
import { type CaughtLine, type LogCatcher, logCatcher, testClient } from "portico/testing";
import { describe, expect, it } from "vitest";
import { startApp } from "../start-app.ts";

const quiet = (): PorticoApp => new PorticoApp({ logger: false });

/** Sets a header that cannot be sent, which `header()` would reject. */
const spoil = (response: PorticoResponse): PorticoResponse =>
  Object.assign(response, { headers: { "x-bad": "line\nbreak" } });

const errorsIn = (log: LogCatcher): readonly CaughtLine[] => log.lines.filter(({ level }) => level === "error");

describe("the content type of a response", () => {
  const app = (type?: string): PorticoApp => {
    const typed = (response: PorticoResponse): PorticoResponse =>
      type === undefined ? response : response.header("content-type", type);
    return quiet()
      .get("/json", ({ response }) => typed(response).json({}))
      .get("/value", ({ response }) => {
        typed(response);
        return [];
      })
      .get("/text", ({ response }) => typed(response).text("a"))
      .get("/bytes", ({ response }) => typed(response).bytes(new Uint8Array(1), "image/png"))
      .get("/stream", ({ response }) => typed(response).stream(Readable.from(["a"]), "text/csv"));
  };
  const paths = ["/json", "/value", "/text", "/bytes", "/stream"];
  const types = (of: PorticoApp): Promise<unknown[]> =>
    Promise.all(paths.map(async (path) => (await testClient(of).get(path)).headers["content-type"]));

  it("depends on the body", async () => {
    expect(await types(app())).toEqual([
      "application/json; charset=utf-8",
      "application/json; charset=utf-8",
      "text/plain; charset=utf-8",
      "image/png",
      "text/csv",
    ]);
  });

  it("is the one that the handler sets", async () => {
    expect(await types(app("application/x-own"))).toEqual(paths.map(() => "application/x-own"));
  });
});

it("a value that JSON has no text for is null", async () => {
  const app = quiet().get("/", ({ response }) => response.json(() => {}));

  const answer = await testClient(app).get("/");

  expect([answer.status, answer.text()]).toEqual([200, "null"]);
});

it("a stream is not read for HEAD, and its response has no length", async () => {
  const source = Readable.from(["a", "b"]);
  const app = quiet().get("/", ({ response }) => response.stream(source, "text/csv"));

  const { status, headers } = await testClient(app).request("HEAD", "/");

  expect([status, headers["content-type"], headers["content-length"]]).toEqual([200, "text/csv", undefined]);
  expect(source.destroyed).toBe(true);
});

it("a stream that could also be written to ends when it has been read to the end", async () => {
  const ends: unknown[] = [];
  const database = provide(async function* ({ ctx }) {
    try {
      yield 1;
    } finally {
      ends.push(ctx.outcome);
    }
  });
  const app = quiet().get("/", { params: { db: Depend(database) } }, ({ response }) => {
    const duplex = new Duplex({ read: () => {}, write: () => {} });
    duplex.push("all");
    duplex.push(null);
    return response.stream(duplex);
  });

  expect((await testClient(app).get("/")).text()).toBe("all");
  await expect.poll(() => ends).toEqual(["success"]);
});

describe("a middleware", () => {
  it("that neither responds nor calls next gets a 500, and the log says so", async () => {
    const log = logCatcher();
    const app = new PorticoApp({ logger: log }).use(() => {}).get("/", () => "never");

    expect((await testClient(app).get("/")).status).toBe(500);
    expect(log.lines).toMatchObject([{ level: "error", msg: "a middleware neither responded nor called next()" }]);
  });

  it("may respond itself", async () => {
    const app = quiet()
      .use((ctx) => {
        if (ctx.kind === "http") ctx.response.status(202).text("later");
      })
      .get("/", () => "never");

    const answer = await testClient(app).get("/");

    expect([answer.status, answer.text()]).toEqual([202, "later"]);
  });
});

describe("an exception that HTTP cannot represent", () => {
  it.each([
    ["a header", { headers: { "x-reason": "line\nbreak" } }, 400],
    ["a status", {}, 600],
  ])("because of %s is a 500, and the log has both errors", async (_part, options, status) => {
    const log = logCatcher();
    const app = new PorticoApp({ logger: log }).get("/", () => {
      throw new HttpException(status, "Not this one", options);
    });

    const answer = await testClient(app).get("/");

    expect([answer.status, answer.json()]).toMatchObject([500, { code: "internal_server_error" }]);
    expect(answer.headers).not.toHaveProperty("x-reason");
    expect(log.lines).toHaveLength(1);
    expect(log.lines[0]).toMatchObject({ level: "error", msg: expect.stringMatching(/x-reason|received 600/) });
    expect(log.text).toContain("Not this one");
  });
});

// With Fastify's routing, Fastify responds to this error by itself.
describe.skipIf(process.env["PORTICO_LOG_SCAN"] === "1")("a response that cannot be sent", () => {
  it("is a 500 if only the handler is at fault", async () => {
    const log = logCatcher();
    const events: unknown[] = [];
    const client = await startApp(
      (app) =>
        app
          .get("/now", ({ response }) => spoil(response).text("a"))
          .get("/later", async ({ response }) => spoil(response).text("a"))
          .onRequest(({ status }) => void events.push(status)),
      { logger: log },
    );

    expect([(await client.get("/now")).status, (await client.get("/later")).status]).toEqual([500, 500]);
    expect(errorsIn(log)).toHaveLength(2);
    expect(events).toEqual([500, 500]);
  });

  it.each([true, false])("ends the connection if no other response is possible, observed: %s", async (isObserved) => {
    const log = logCatcher();
    const events: unknown[] = [];
    const client = await startApp(
      (app) => {
        app.use(async (ctx, next) => {
          if (ctx.kind === "http") spoil(ctx.response);
          await next();
        });
        app.get("/", () => "never");
        if (isObserved) app.onRequest(({ status }) => void events.push(status));
      },
      { logger: log },
    );

    await expect(client.get("/")).rejects.toThrow(/socket hang up|ECONNRESET/);

    expect(errorsIn(log).at(-1)).toMatchObject({
      msg: expect.stringContaining("x-bad"),
      correlation_id: expect.any(String),
      path: "/",
    });
    expect(events).toEqual(isObserved ? [500] : []);
  });
});

it("of several dependencies that fail to close, the first is the response and the others are logged", async () => {
  const log = logCatcher();
  const failing = (close: () => Promise<never>) =>
    provide(async function* () {
      try {
        yield 1;
      } finally {
        await close();
      }
    });
  const params = {
    one: Depend(failing(() => Promise.reject(new Error("one is broken")))),
    two: Depend(failing(() => Promise.reject(new HttpException(409, "two is taken")))),
  };
  const app = new PorticoApp({ logger: log }).get("/", { params }, () => "saved");

  const answer = await testClient(app).get("/");

  expect([answer.status, answer.json()]).toMatchObject([409, { detail: "two is taken" }]);
  expect(log.lines).toMatchObject([{ level: "error", msg: "one is broken", path: "/" }]);
});
