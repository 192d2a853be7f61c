import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import compress from "@fastify/compress";
import { PorticoApp } from "portico";
import { describe, expect, it, onTestFinished } from "vitest";
import { rawConnection } from "../../raw-connection.ts";
import { readResponses } from "../../read-responses.ts";
import { ROUTINGS } from "../routings.ts";
import { connected } from "./connected.ts";

const post = (path: string, length: number, ...headers: readonly string[]): string =>
  [`POST ${path} HTTP/1.1`, "Host: shop.example", `Content-Length: ${length}`, ...headers, "", ""].join("\r\n");

describe.each(ROUTINGS)("a body of a request that is routed %s", (_, route) => {
  it("is the same, whether it arrives with the headers, in pieces or in chunks", async () => {
    const { app, client } = await connected((app) => route(app).post("/echo", async ({ request }) => request.text()));

    client.socket.write(`${post("/echo", 5)}whole`);
    await client.until('"whole"');
    const begun = once(app.engine.server, "request");
    client.socket.write(`${post("/echo", 6)}pie`);
    await begun;
    client.socket.write("ces");
    await client.until('"pieces"');
    client.socket.write(
      "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n7\r\nchunked\r\n0\r\n\r\n",
    );
    await client.until('"chunked"');

    const { responses } = readResponses(client.received(), ["POST", "POST", "POST"]);
    expect(responses.map(({ body }) => body)).toEqual(['"whole"', '"pieces"', '"chunked"']);
    expect(client.received().toLowerCase()).not.toContain("connection: close");
  });

  it("is asked for once if the client waits, or has sent it already", async () => {
    const { client } = await connected((app) => route(app).post("/echo", async ({ request }) => request.text()));

    client.socket.write(post("/echo", 4, "Expect: 100-continue"));
    await client.until("100 Continue");
    client.socket.write("late");
    await client.until('"late"');
    client.socket.write(`${post("/echo", 5, "Expect: 100-continue")}early`);
    await client.until('"early"');

    expect(client.received().match(/HTTP\/1\.1 \d+|"\w+"/g)).toEqual([
      "HTTP/1.1 100",
      "HTTP/1.1 200",
      '"late"',
      "HTTP/1.1 100",
      "HTTP/1.1 200",
      '"early"',
    ]);
  });

  it("can be read after its response has begun, and is not asked for then", async () => {
    const { client } = await connected((app) =>
      route(app).post("/echo", ({ request, response }) =>
        response.stream(
          (async function* () {
            yield "begun,";
            yield await request.text();
          })(),
          "text/plain",
        ),
      ),
    );

    client.socket.write(post("/echo", 4, "Expect: 100-continue"));
    await client.until("begun,");
    client.socket.write("body");
    await client.until("body");

    expect(client.received()).not.toContain("100 Continue");
  });

  it("is the one that a plugin unpacks, and its limit applies to that", async () => {
    const app = route(new PorticoApp({ logger: false, openapi: false, maxBody: 100 })).post("/echo", ({ request }) =>
      request.text(),
    );
    app.engine.register(compress);
    const ask = async (text: string): Promise<unknown> => {
      const { status, body } = await app.inject({
        method: "POST",
        url: "/echo",
        headers: { "content-encoding": "gzip", "content-type": "text/plain" },
        body: gzipSync(text),
      });
      return status === 200 ? JSON.parse(body.toString()) : status;
    };

    expect(await ask("unpacked")).toBe("unpacked");
    expect(await ask("x".repeat(100))).toBe("x".repeat(100));
    expect(await ask("x".repeat(101))).toBe(413);
  });

  it("no longer counts for its address when its handler stops reading it", async () => {
    const handler = Promise.withResolvers<string>();
    let read = 0;
    const { client, app } = await connected(
      (app) =>
        route(app).post("/first", async ({ request }) => {
          for await (const chunk of request.stream) if (chunk.length > 0) break;
          read++;
          return handler.promise;
        }),
      { load: { maxBodiesPerAddress: 1 } },
    );
    const { port } = app.engine.server.address() as AddressInfo;
    const second = await rawConnection(port);
    onTestFinished(() => void second.socket.destroy());

    client.socket.write(`${post("/first", 9)}a`);
    await expect.poll(() => read).toBe(1);
    second.socket.write(`${post("/first", 9)}b`);
    await expect.poll(() => read).toBe(2);
    handler.resolve("read");

    expect(await second.until('"read"')).toMatch(/^HTTP\/1\.1 200 /);
  });

  it("counts for its address only until it has arrived", async () => {
    const handler = Promise.withResolvers<string>();
    let read = 0;
    const { client, app } = await connected(
      (app) =>
        route(app).post("/hold", async ({ request }) => {
          await request.text();
          read++;
          return handler.promise;
        }),
      { load: { maxBodiesPerAddress: 1 } },
    );
    const { port } = app.engine.server.address() as AddressInfo;
    const [second, third] = [await rawConnection(port), await rawConnection(port)];
    onTestFinished(() => void [second, third].map(({ socket }) => socket.destroy()));
    const requests = new Set<string>();
    app.engine.server.on("request", ({ url }) => requests.add(url ?? ""));

    client.socket.write(`${post("/hold?1", 2)}a`);
    await expect.poll(() => [...requests]).toEqual(["/hold?1"]);
    second.socket.write(`${post("/hold?2", 2)}b`);
    const refused = await second.until("\r\n\r\n");
    client.socket.write("a");
    await expect.poll(() => read).toBe(1);
    third.socket.write(`${post("/hold?3", 2)}c`);
    await expect.poll(() => requests.size).toBe(3);
    third.socket.write("c");
    await expect.poll(() => read).toBe(2);
    handler.resolve("held");

    expect(refused).toMatch(/^HTTP\/1\.1 429 /);
    expect(await client.until('"held"')).toMatch(/^HTTP\/1\.1 200 /);
    expect(await third.until('"held"')).toMatch(/^HTTP\/1\.1 200 /);
  });
});
