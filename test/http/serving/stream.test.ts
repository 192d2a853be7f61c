import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { Conflict, Depend, HttpContext, type Outcome, PorticoApp, provide } from "portico";
import { liveClient, logCatcher, testClient } from "portico/testing";
import { describe, expect, it } from "vitest";
import { overBoth } from "../../matrix.ts";
import { rawConnection } from "../raw-connection.ts";

const log = logCatcher();

/** An application whose route answers with this stream, and a transaction that notes how it ended. */
function streaming(source: (ctx: HttpContext) => AsyncIterable<string> | Readable) {
  const ends: Outcome[] = [];
  const transaction = provide(async function* ({ ctx }) {
    try {
      await Promise.resolve();
      yield 1;
    } finally {
      ends.push(ctx.outcome);
    }
  });
  log.clear();
  const params = { transaction: Depend(transaction), http: HttpContext };
  const app = new PorticoApp({ logger: log }).get("/rows", { params }, ({ http, response }) =>
    response.stream(source(http), "text/csv"),
  );
  return { app, ends };
}

async function* failing(after: number) {
  for (let row = 0; row < after; row++) yield `${row}\n`;
  await sleep(20);
  throw new Error("the table is gone");
}

const errors = () => log.lines.filter(({ level }) => level === "error");

describe("a stream that fails after its first byte", () => {
  let ends: readonly Outcome[] = [];
  overBoth(
    "cuts the response off, is logged once with a correlation id, and is a failure for its dependencies",
    () => {
      const made = streaming(() => failing(2));
      ends = made.ends;
      return made.app;
    },
    async (client) => {
      await expect(client.get("/rows")).rejects.toThrow(/^the response( to GET \/rows ended early|.*was cut off)/);

      await expect.poll(() => ends).toEqual(["failure"]);
      expect(errors()).toMatchObject([
        {
          level: "error",
          msg: "the table is gone",
          correlation_id: expect.any(String),
          code: "INTERNAL_SERVER_ERROR",
          method: "GET",
          path: "/rows",
        },
      ]);
    },
  );

  it("tells a test why, where no connection is between them", async () => {
    const { app } = streaming(() => failing(1));

    const answer = testClient(app).get("/rows");

    await expect(answer).rejects.toMatchObject({ cause: new Error("the table is gone") });
  });

  it("is logged even if it throws an HTTP exception, because no response is possible", async () => {
    const { app, ends } = streaming(async function* () {
      yield "1\n";
      await sleep(5);
      throw new Conflict("not these rows");
    });

    await expect(testClient(app).get("/rows")).rejects.toThrow("was cut off");

    expect(errors()).toMatchObject([{ msg: "not these rows", code: "CONFLICT" }]);
    expect(ends).toEqual(["failure"]);
  });

  it("is logged if it is the response of an exception handler", async () => {
    log.clear();
    const app = new PorticoApp({ logger: log }).get("/rows", () => {
      throw new TypeError("no rows");
    });
    app.addExceptionHandler(TypeError, (_request, response) => response.status(500).stream(failing(1)));

    await expect(testClient(app).get("/rows")).rejects.toThrow("was cut off");

    expect(errors().map(({ msg }) => msg)).toEqual(["the table is gone"]);
  });
});

describe("a stream that fails before its first byte", () => {
  let ends: readonly Outcome[] = [];
  overBoth(
    "is a 500, logged once, and a failure for its dependencies",
    () => {
      const made = streaming(() => failing(0));
      ends = made.ends;
      return made.app;
    },
    async (client) => {
      const answer = await client.get("/rows");

      expect(answer.status).toBe(500);
      expect(errors()).toMatchObject([{ msg: "the table is gone" }]);
      expect(answer.json()).toMatchObject({ correlation_id: errors()[0]?.["correlation_id"] });
      await expect.poll(() => ends).toEqual(["failure"]);
    },
  );

  it("is a 500 also when it fails before it is sent", async () => {
    const { app, ends } = streaming(() => createReadStream("/no/such/file"));
    app.use(async (_ctx, next) => {
      await next();
      await sleep(30);
    });

    const answer = await testClient(app).get("/rows");

    expect(answer.status).toBe(500);
    expect(errors()).toHaveLength(1);
    expect(ends).toEqual(["failure"]);
  });
});

describe("a stream that does not fail", () => {
  it("is pending for its dependencies until its end, then a success", async () => {
    const seen: Outcome[] = [];
    const { app, ends } = streaming(async function* (ctx) {
      yield "1\n";
      await sleep(5);
      seen.push(ctx.outcome);
      yield "2\n";
    });

    const answer = await testClient(app).get("/rows");

    expect(answer.text()).toBe("1\n2\n");
    expect(seen).toEqual(["pending"]);
    await expect.poll(() => ends).toEqual(["success"]);
    expect(log.lines).toEqual([]);
  });

  it("is a success when the client leaves, whatever its leaving makes the stream throw", async () => {
    const { app, ends } = streaming((ctx) => {
      const rows = async function* () {
        yield "1\n";
        await sleep(10_000, undefined, { signal: ctx.signal });
        yield "2\n";
      };
      return Readable.from(rows(), { signal: ctx.signal });
    });
    const client = await liveClient(app);
    const raw = await rawConnection(client.port);
    raw.socket.write("GET /rows HTTP/1.1\r\nHost: x\r\n\r\n");
    await raw.until("1\n");

    raw.socket.destroy();

    await expect.poll(() => ends).toEqual(["success"]);
    expect(errors()).toEqual([]);
    await client.close();
  });

  overBoth(
    "sends on HEAD the length that its handler set, or none",
    () =>
      new PorticoApp({ logger: false })
        .get("/known", ({ response }) => response.header("content-length", "4").stream(Readable.from(["1\n", "2\n"])))
        .get("/unknown", ({ response }) => response.stream(Readable.from(["1\n", "2\n"]))),
    async (client) => {
      const lengths = [];
      for (const path of ["/known", "/unknown"]) {
        const answer = await client.request("HEAD", path);
        lengths.push([answer.status, answer.text(), answer.headers["content-length"]]);
      }

      expect(lengths).toEqual([
        [200, "", "4"],
        [200, "", undefined],
      ]);
      expect((await client.get("/known")).text()).toBe("1\n2\n");
    },
  );

  it("is a success on HEAD, where it is not read", async () => {
    const { app, ends } = streaming(() => failing(1));

    const answer = await testClient(app).request("HEAD", "/rows");

    expect(answer.status).toBe(200);
    await expect.poll(() => ends).toEqual(["success"]);
    expect(log.lines).toEqual([]);
  });
});
