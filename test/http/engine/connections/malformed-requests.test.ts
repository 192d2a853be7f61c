import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { readResponses } from "../../read-responses.ts";
import { connected, get } from "./connected.ts";

const GARBAGE = "garbage\r\n\r\n";
const chunked = (path: string): string => `POST ${path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`;

/** A response to bytes that are not a request, as it is sent. */
function problem(status: number, title: string, code: string, detail: string): string {
  const body = JSON.stringify({ type: "about:blank", title, status, detail, code });
  return [
    `HTTP/1.1 ${status} ${title}`,
    "content-type: application/problem+json; charset=utf-8",
    `content-length: ${body.length}`,
    "x-content-type-options: nosniff",
    "connection: close",
    "",
    body,
  ].join("\r\n");
}
const BAD = problem(400, "Bad Request", "bad_request", "The request is not valid HTTP");

describe("a request that is not valid HTTP", () => {
  it.each([
    [GARBAGE, BAD],
    [
      `GET / HTTP/1.1\r\nHost: x\r\nX-Large: ${"a".repeat(20_000)}\r\n\r\n`,
      problem(431, "Request Header Fields Too Large", "headers_too_large", "The headers are too large"),
    ],
    [
      "GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ",
      problem(408, "Request Timeout", "request_timeout", "The request did not arrive in time"),
    ],
  ])(
    "gets a problem, and its connection is closed although the client keeps its half: %.12s",
    async (bytes, answer) => {
      const { client, server } = await connected((app) => app.get("/", () => "never"), {
        timeouts: { headersSeconds: 0.1, requestSeconds: 0.1 },
      });
      client.socket.allowHalfOpen = true;
      const cut = once(server, "close");

      client.socket.write(bytes);
      await cut;
      await expect.poll(() => client.received()).toBe(answer);
    },
  );

  it("gets its response after those to the requests before it, and only one", async () => {
    const handler = Promise.withResolvers<string>();
    let isCalled = false;
    const { client, server } = await connected((app) =>
      app.get("/slow", () => {
        isCalled = true;
        return handler.promise;
      }),
    );
    let read = 0;
    server.on("data", () => read++);

    client.socket.write(get("/slow") + GARBAGE);
    await expect.poll(() => isCalled).toBe(true);
    for (const piece of [1, 2]) {
      client.socket.write(GARBAGE);
      await expect.poll(() => read).toBeGreaterThan(piece);
    }
    const before = client.received();
    handler.resolve("slow");
    await client.closed;

    expect(before).toBe("");
    expect(client.received()).toMatch(/^HTTP\/1\.1 200 /);
    expect(client.received().split('"slow"')[1]).toBe(BAD);
  });

  it("ends its connection if it breaks off behind a request, which is aborted", async () => {
    let isAborted = false;
    const { client } = await connected((app) =>
      app.get("/endless", async ({ ctx }) => {
        await once(ctx.signal, "abort");
        isAborted = true;
      }),
    );

    client.socket.write(`${get("/endless")}GET /half`);
    client.socket.end();
    await client.closed;

    expect(client.received()).toBe("");
    await expect.poll(() => isAborted).toBe(true);
  });

  it("gets 400 instead of the response of its handler if that has not begun", async () => {
    const failures: unknown[] = [];
    const { client } = await connected((app) =>
      app.post("/echo", async ({ request }) => {
        await request.bytes().catch((error: unknown) => failures.push(error));
      }),
    );

    client.socket.write(chunked("/echo"));
    client.socket.write("zz\r\n");
    await client.closed;

    expect(client.received()).toBe(BAD);
    await expect.poll(() => failures).toMatchObject([{ code: "BODY_INCOMPLETE" }]);
  });

  it("breaks off the response of its handler if that has begun", async () => {
    const { client } = await connected((app) =>
      app.post("/stream", ({ response, ctx }) =>
        response.stream(
          (async function* () {
            yield "begun";
            await once(ctx.signal, "abort");
          })(),
          "text/plain",
        ),
      ),
    );

    client.socket.write(chunked("/stream"));
    await client.until("begun");
    client.socket.write("zz\r\n");
    await client.closed;

    expect(readResponses(client.received(), ["POST"]).responses).toMatchObject([
      { status: 200, body: "begun", isComplete: false },
    ]);
  });

  it("does not disturb the response of its handler if that only has to be read", async () => {
    const length = 8 * 1024 ** 2;
    const { client, server } = await connected((app) =>
      app.post("/large", ({ response }) => response.bytes(Buffer.alloc(length), "text/plain")),
    );

    client.socket.pause();
    client.socket.write(chunked("/large"));
    await expect.poll(() => server.writableNeedDrain).toBe(true);
    const { bytesRead } = server;
    client.socket.write("zz\r\n");
    await expect.poll(() => server.bytesRead).toBeGreaterThan(bytesRead);
    client.socket.resume();
    await client.closed;

    const { responses } = readResponses(client.received(), ["POST"]);
    expect(responses.map(({ status, body }) => [status, body.length])).toEqual([[200, length]]);
  });
});
