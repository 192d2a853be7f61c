import { Readable } from "node:stream";
import { createGunzip, gzipSync } from "node:zlib";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { PorticoApp } from "portico";
import { testClient } from "portico/testing";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { z } from "zod";
import { type RawConnection, rawConnection } from "../raw-connection.ts";
import { startApp } from "../start-app.ts";

describe("a body that may be missing", () => {
  const declare = (app: PorticoApp): PorticoApp =>
    app
      .post("/optional", { body: z.object({ n: z.number() }).optional() }, ({ body }) => ({ body: body ?? "none" }))
      .post("/required", { body: z.object({ n: z.number() }) }, ({ body }) => body)
      .post("/later", { body: z.unknown().refine(async (value) => value === undefined) }, () => ({ body: "none" }));
  const app = (): PorticoApp => declare(new PorticoApp({ logger: false }));

  it("is missing without a content type, and with that of JSON", async () => {
    const { post } = testClient(app());
    const typed = (type: string) => post("/optional", { headers: { "content-type": type } });

    expect((await post("/optional")).json()).toEqual({ body: "none" });
    expect((await post("/later")).json()).toEqual({ body: "none" });
    expect((await typed("application/json; charset=utf-8")).json()).toEqual({ body: "none" });
    expect((await post("/optional", { body: { n: 1 } })).json()).toEqual({ body: { n: 1 } });
  });

  it("is not missing if a form was sent, even an empty one", async () => {
    const { post } = testClient(app());
    const answer = await post("/optional", { headers: { "content-type": "application/x-www-form-urlencoded" } });

    expect(answer.status).toBe(415);
  });

  it("is not missing if it is sent in chunks", async () => {
    const { port } = await startApp(declare);
    const { socket, closed, received } = await rawConnection(port);
    const head = "Host: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n";
    socket.write(`POST /optional HTTP/1.1\r\n${head}7\r\n{"n":1}\r\n0\r\n\r\n`);
    await closed;

    expect(received()).toContain('{"body":{"n":1}}');
  });

  it("is an error of its content type where the schema requires it", async () => {
    const answer = await testClient(app()).post("/required");

    expect([answer.status, answer.json()]).toEqual([415, expect.objectContaining({ code: "unsupported_media_type" })]);
  });
});

describe("a schema that cannot handle a missing body", () => {
  const schemaOf = (validate: StandardSchemaV1.Props["validate"]): StandardSchemaV1 => ({
    "~standard": { version: 1, vendor: "test", validate },
  });

  it.each([
    [
      "throws",
      () => {
        throw new TypeError("undefined is not an object");
      },
    ],
    ["rejects", () => Promise.reject(new TypeError("undefined is not an object"))],
    ["has issues with it", () => ({ issues: [{ message: "required" }] })],
    ["has issues with it later", async () => ({ issues: [{ message: "required" }] })],
  ] as const)("requires one: %s", async (_, validate) => {
    const app = new PorticoApp({ logger: false }).post("/", { body: schemaOf(validate) }, () => "done");

    expect((await testClient(app).post("/")).status).toBe(415);
  });

  it("passes on what it makes of a missing one", async () => {
    const [now, later] = [schemaOf(() => ({ value: "now" })), schemaOf(async () => ({ value: "later" }))];
    const app = new PorticoApp({ logger: false })
      .post("/now", { body: now }, ({ body }) => body)
      .post("/later", { body: later }, ({ body }) => body);

    expect((await testClient(app).post("/now")).json()).toBe("now");
    expect((await testClient(app).post("/later")).json()).toBe("later");
  });
});

describe("a body that a plugin decompresses", () => {
  const app = (): PorticoApp => {
    const it = new PorticoApp({ logger: false }).post(
      "/",
      { maxBody: 300_000 },
      async ({ request }) => (await request.bytes()).length,
    );
    it.engine.addHook("preParsing", async (_request, _reply, payload) => payload.pipe(createGunzip()));
    return it;
  };
  const send = (body: Buffer) =>
    testClient(app()).post("/", { body, headers: { "content-encoding": "gzip", "content-type": "text/plain" } });

  it("is read up to maxBody, by its length after that", async () => {
    expect((await send(gzipSync(Buffer.alloc(300_000)))).json()).toBe(300_000);
    expect((await send(gzipSync(Buffer.alloc(300_001)))).status).toBe(413);
  });
});

describe("a body that arrives with its request", () => {
  it("may be as long as maxBody, and no longer", async () => {
    const { post } = await startApp((app) => app.post("/", { maxBody: 10 }, async ({ request }) => request.text()));

    expect((await post("/", { body: "x".repeat(10) })).json()).toBe("x".repeat(10));
    expect((await post("/", { body: "x".repeat(11) })).status).toBe(413);
  });
});

describe("a body that ends early", () => {
  it("is 400 if the client leaves, or the stream is destroyed", async () => {
    const reasons: unknown[] = [];
    const { port } = await startApp((app) =>
      app.post("/:how", async ({ request, path }) => {
        const reading = request.bytes();
        reading.catch((error: unknown) => reasons.push((error as { readonly code: string }).code));
        // Reading begins in the next microtask.
        await Promise.resolve();
        await Promise.resolve();
        if (path.how === "destroyed") request.stream.destroy();
        await reading.catch(() => {});
      }),
    );

    for (const how of ["left", "destroyed"]) {
      const { socket, closed } = await rawConnection(port);
      socket.write(`POST /${how} HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc`);
      if (how === "left") socket.end();
      await closed;
    }

    await expect.poll(() => reasons).toEqual(["BODY_INCOMPLETE", "BODY_INCOMPLETE"]);
  });

  it("cannot be read any more after its stream was destroyed", async () => {
    const app = new PorticoApp({ logger: false }).post("/", async ({ request }) => {
      request.stream.destroy();
      return request.text().catch((error: unknown) => (error as { readonly code: string }).code);
    });

    expect((await testClient(app).post("/", { body: "abc" })).json()).toBe("BODY_INCOMPLETE");
    expect((await testClient(app).post("/")).json()).toBe("");
  });
});

describe("a body that arrives slowly", () => {
  it("does not use up the time of its handler", async () => {
    const { port } = await startApp((app) => app.post("/", async ({ request }) => request.text()), {
      timeouts: { handlerSeconds: 5, requestSeconds: 60 },
    });
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const connection = await rawConnection(port);
    const { socket } = connection;
    socket.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n");
    await connection.until("100 Continue");
    socket.write("ab");

    vi.advanceTimersByTime(5_000);
    socket.write("cd");

    expect(await connection.until("abcd")).toContain("HTTP/1.1 200 ");
  });

  it("is one of maxBodiesPerAddress until it has arrived", async () => {
    const { port } = await startApp((app) => app.post("/", async ({ request }) => request.text()), {
      load: { maxBodiesPerAddress: 2, retryAfterSeconds: 7 },
    });
    const begin = async (): Promise<RawConnection> => {
      const connection = await rawConnection(port);
      connection.socket.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
      await connection.until("\r\n\r\n");
      return connection;
    };
    const status = ({ received }: RawConnection): string => received().slice(9, 12);

    const [first, second, third] = [await begin(), await begin(), await begin()];
    first.socket.write("ab");
    await first.until("200 OK");
    const [fourth, fifth] = [await begin(), await begin()];
    for (const { socket } of [second, fourth]) socket.write("ab");
    await Promise.all([second, fourth].map((connection) => connection.until("200 OK")));
    const [sixth, seventh, eighth] = [await begin(), await begin(), await begin()];

    const statuses = [first, second, third, fourth, fifth, sixth, seventh, eighth].map(status);
    expect(statuses).toEqual(["100", "100", "429", "100", "429", "100", "100", "429"]);
    expect(third.received()).toMatch(/\r\nretry-after: 7\r\n/i);
    for (const { socket } of [sixth, seventh]) socket.destroy();
  });
});

describe("a stream that a handler gives up", () => {
  const source = (): Readable => new Readable({ read() {} });

  it("is destroyed when the handler throws after it", async () => {
    const stream = source();
    const app = new PorticoApp({ logger: false }).get("/", ({ response }) => {
      response.stream(stream);
      throw new Error("no");
    });

    expect((await testClient(app).get("/")).status).toBe(500);
    expect(stream.destroyed).toBe(true);
  });

  it("may fail before the response, which is then another one", async () => {
    const app = new PorticoApp({ logger: false }).get("/", async ({ response }) => {
      const stream = source();
      response.stream(stream);
      stream.destroy(new Error("the disk is gone"));
      await new Promise((resolve) => stream.once("close", resolve));
      return response.text("without it");
    });

    expect((await testClient(app).get("/")).text()).toBe("without it");
  });
});
