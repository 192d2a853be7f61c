import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { BadRequest, PorticoApp, type PorticoAppOptions } from "portico";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { rawConnection } from "../raw-connection.ts";
import { throughFastify } from "./routings.ts";

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

function shop(options: PorticoAppOptions = {}): PorticoApp {
  return new PorticoApp({ logger: false, openapi: false, ...options })
    .get("/books", ({ query }) => ({ query }))
    .get("/books/new", ({ query, request }) => ({ query, params: request.params }))
    .get("/a%20b", () => "encoded")
    .get("/a;b", () => "semicolon")
    .get("/books/:id", ({ path, request }) => ({ ...path, url: request.url, ip: request.ip }))
    .post("/books", { body: z.object({ title: z.string() }) }, ({ body, response }) => response.status(201).json(body))
    .post("/echo", async ({ request, response }) => response.bytes(await request.bytes(), "text/plain"))
    .post("/unread", () => "unread")
    .get("/none", () => undefined)
    .get("/none-with-body", ({ response }) => response.status(204).json({ lost: true }))
    .get("/not-modified", ({ response }) => response.status(304).header("etag", '"1"').empty())
    .get("/empty", ({ response }) => response.status(200).empty())
    .get("/length", ({ response }) => response.header("content-length", "3").text("longer"))
    .get("/sniffed", ({ response }) => response.header("x-content-type-options", "other").text("x"))
    .get("/cookies", ({ response }) => response.cookie("a", "1").cookie("b", "2").text("cookies"))
    .get("/moved", ({ response }) => response.redirect("/books"))
    .get("/page", ({ response }) => response.html("<p>ä</p>"))
    .get("/bad", () => {
      throw new BadRequest("no");
    })
    .get("/throws", () => {
      throw new Error("secret");
    })
    .get("/stream", ({ response }) => response.stream(Readable.from(["one", "two"]), "text/plain"))
    .get("/stream-204", ({ response }) => response.status(204).stream(Readable.from(["one"]), "text/plain"))
    .get("/stream-fails", ({ response }) => response.header("x-handler", "1").stream(failing(0), "text/plain"))
    .get("/stream-breaks", ({ response }) => response.stream(failing(1), "text/plain"))
    .get("/closes", ({ response }) => response.header("connection", "close").text("bye"))
    .socket("/chat", ({ socket }) => socket.send("hello"))
    .get("/both", () => "both")
    .socket("/both", ({ socket }) => socket.send("both"));
}

async function* failing(after: number): AsyncGenerator<string> {
  for (let at = 0; at < after; at++) yield "part";
  throw new Error("the stream failed");
}

const head = (line: string, ...headers: readonly string[]): string =>
  [`${line} HTTP/1.1`, "Host: shop.example", ...headers, "", ""].join("\r\n");
const body = (line: string, text: string, ...headers: readonly string[]): string =>
  head(line, "Content-Type: application/json", `Content-Length: ${text.length}`, ...headers) + text;
const LAST = "Connection: close";
const HANDSHAKE = [
  "Connection: Upgrade",
  "Upgrade: websocket",
  "Sec-WebSocket-Version: 13",
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
];

const requests: Readonly<Record<string, string>> = {
  "a route": head("GET /books"),
  "a repeated query": head("GET /books?a=1&a=2&b=%20&c&=d"),
  "a fixed path that a parameter matches too": head("GET /books/new"),
  "a fixed path with a query": head("GET /books/new?a=1"),
  "a fixed path with an empty query": head("GET /books/new?"),
  "a fixed path with an encoded letter": head("GET /books/%6Eew"),
  "a fixed path with a trailing slash": head("GET /books/new/"),
  "a fixed path with two slashes": head("GET /books//new"),
  "a fixed path in capitals": head("GET /BOOKS"),
  "a fixed path as an absolute URL": head("GET http://shop.example/books/new"),
  "a path that was declared encoded": head("GET /a%20b"),
  "a path with a semicolon": head("GET /a;b"),
  "HEAD of a fixed path": head("HEAD /books/new"),
  "a parameter": head("GET /books/%C3%A4"),
  "a trailing slash": head("GET /books/7/"),
  "an absolute URL": head("GET http://shop.example/books/7?x=1"),
  HEAD: head("HEAD /books/7"),
  "HEAD of a stream": head("HEAD /stream"),
  "HEAD with a length": head("HEAD /length"),
  "HEAD of an unknown path": head("HEAD /unknown"),
  "a body": body("POST /books", '{"title":"Emma"}'),
  "a wrong body": body("POST /books", '{"title":1}'),
  "a malformed body": body("POST /books", "{"),
  "an empty body": body("POST /books", ""),
  "no body": head("POST /books"),
  "a chunked body": `${head("POST /echo", "Transfer-Encoding: chunked")}3\r\none\r\n0\r\n\r\n`,
  "a body that no handler reads": body("POST /unread", "{}"),
  "a long body that no handler reads": body("POST /unread", "x".repeat(70_000)),
  "a compressed body": body("POST /echo", "xx", "Content-Encoding: gzip"),
  "a body after 100 Continue": body("POST /echo", "ab", "Expect: 100-continue"),
  "another expectation": body("POST /echo", "ab", "Expect: 200-maybe"),
  "a body with GET": body("GET /books", "{}"),
  nothing: head("GET /none"),
  "204 with a body": head("GET /none-with-body"),
  "304": head("GET /not-modified"),
  "an empty 200": head("GET /empty"),
  "a length of the handler": head("GET /length"),
  "a header of the handler": head("GET /sniffed"),
  "two cookies": head("GET /cookies"),
  "a redirect": head("GET /moved"),
  "a page": head("GET /page"),
  "a refusal": head("GET /bad"),
  "an error": head("GET /throws"),
  "a stream": head("GET /stream"),
  "a stream with 204": head("GET /stream-204"),
  "a stream that fails before its first byte": head("GET /stream-fails"),
  "a stream that fails later": head("GET /stream-breaks"),
  "a response that closes": head("GET /closes"),
  "an unknown path": head("GET /unknown"),
  "another method": head("DELETE /books"),
  "an unusual method": head("PROPFIND /books"),
  OPTIONS: head("OPTIONS /books"),
  "OPTIONS of an unknown path": head("OPTIONS /unknown"),
  "OPTIONS of the server": head("OPTIONS *"),
  CONNECT: head("CONNECT shop.example:80"),
  "a path that cannot be decoded": head("GET /books/%E0%A4%A"),
  "a long segment": head(`GET /books/${"x".repeat(8_300)}`),
  "a wrong host": "GET /books HTTP/1.1\r\nHost: a/b\r\n\r\n",
  "two hosts": "GET /books HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
  "no host": "GET /books HTTP/1.1\r\n\r\n",
  "HTTP/1.0": "GET /books/7 HTTP/1.0\r\n\r\n",
  "HTTP/1.0 that is kept": "GET /books/7 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
  "headers of a proxy": head(
    "GET /books/7",
    "X-Forwarded-For: 9.9.9.9",
    "X-Forwarded-Host: a.example",
    "X-Forwarded-Proto: https",
  ),
  "headers of two proxies": head(
    "GET /books/7",
    "X-Forwarded-For: 1.1.1.1, 9.9.9.9",
    "X-Forwarded-Host: a, b.example",
    "X-Forwarded-Proto: http, https",
  ),
  "an invalid address from a proxy": head("GET /books/7", "X-Forwarded-For: unknown", "X-Forwarded-Host: a/b"),
  "a socket without an upgrade": head("GET /chat"),
  "a refused upgrade": head("GET /unknown", ...HANDSHAKE),
  "an upgrade": head("GET /chat", ...HANDSHAKE),
  "an upgrade where a route is too": head("GET /both", ...HANDSHAKE),
  "a route where a socket is too": head("GET /both"),
  "an upgrade without a key": head("GET /chat", "Connection: Upgrade", "Upgrade: websocket"),
  "an upgrade to another protocol": head("GET /books", "Connection: Upgrade", "Upgrade: h2c"),
  "requests in one packet": head("GET /books") + body("POST /books", '{"title":"Emma"}') + head("GET /unknown", LAST),
  "an upgrade behind a request": head("GET /books") + head("GET /chat", ...HANDSHAKE),
};

/** Everything that a connection receives until it is closed, with the headers of each response in alphabetical order. */
async function responseTo(port: number, request: string): Promise<string> {
  const connection = await rawConnection(port);
  connection.socket.write(request);
  // Node drops the responses to pipelined requests that it has not begun when the client closes its half.
  if (!request.includes(LAST)) connection.socket.end();
  await connection.closed;
  return connection
    .received()
    .replace(/^Date: .*\r\n/gim, "")
    .replace(/HTTP\/1\.1 [^]*?\r\n\r\n/g, (block) => {
      const [status, ...headers] = block.split("\r\n").filter((line) => line !== "");
      return [
        status,
        ...headers.map((header) => header.replace(/^[^:]+/, (name) => name.toLowerCase())).toSorted(),
      ].join("\n");
    })
    .replaceAll(/"correlation_id":"[\w-]+"/g, "");
}

async function listening(app: PorticoApp): Promise<number> {
  ends.push(() => app.close());
  return (await app.listen({ port: 0 })).port;
}

async function inNodeServer(app: PorticoApp): Promise<number> {
  const server = createServer(app.handler).on("upgrade", app.upgradeHandler).listen(0, "127.0.0.1");
  await once(server, "listening");
  ends.push(async () => {
    server.closeAllConnections();
    server.close();
    await app.close();
  });
  return (server.address() as AddressInfo).port;
}

describe("a request that is routed directly and one that goes through Fastify", () => {
  it.each(Object.entries(requests))("get the same response: %s", async (_, request) => {
    const direct = await responseTo(await listening(shop()), request);
    const through = await responseTo(await listening(throughFastify(shop())), request);

    expect(direct).toBe(through);
    expect(direct).toMatch(/^HTTP\/1\.1 \d{3} /);
  });

  // While logs are scanned, every application goes through Fastify, which adds one.
  it.skipIf(process.env["PORTICO_LOG_SCAN"] === "1")("HEAD without a body has no content length", async () => {
    expect(await responseTo(await listening(shop()), head("HEAD /none"))).not.toMatch(/content-length/);
  });

  it.each(Object.entries(requests).filter(([name]) => /prox|URL|host/.test(name)))(
    "get the same response behind a trusted proxy: %s",
    async (_, request) => {
      const options = { trustedProxies: ["127.0.0.1", "9.9.9.9"] };
      const direct = await responseTo(await listening(shop(options)), request);

      expect(direct).toBe(await responseTo(await listening(throughFastify(shop(options))), request));
    },
  );

  it.each(Object.entries(requests))("get the same response in a server of Node: %s", async (_, request) => {
    const direct = await responseTo(await inNodeServer(shop()), request);

    expect(direct).toBe(await responseTo(await inNodeServer(throughFastify(shop())), request));
  });
});

describe("a request whose body arrives with its headers", () => {
  it.each([
    ["directly", shop],
    ["through Fastify", () => throughFastify(shop())],
  ] as const)("is closed after its response, while its connection stays open (routed %s)", async (_, build) => {
    const port = await listening(build());
    const closed = Promise.withResolvers<void>();
    const watch = (message: unknown): void => {
      const { request } = message as { readonly request: IncomingMessage };
      if (request.url === "/books") request.once("close", closed.resolve);
    };
    subscribe("http.server.request.start", watch);
    ends.push(async () => unsubscribe("http.server.request.start", watch));
    const connection = await rawConnection(port);

    connection.socket.write(body("POST /books", '{"title":"Emma"}'));
    await connection.until("Emma");
    await closed.promise;

    expect(connection.socket.closed).toBe(false);
    connection.socket.destroy();
  });
});
