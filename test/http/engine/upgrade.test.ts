import { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { Depend, type Logger, PorticoApp } from "portico";
import { type LiveClient, liveClient, logCatcher } from "portico/testing";
import { afterEach, describe, expect, it, vi } from "vitest";
import { rawConnection } from "../raw-connection.ts";

let client: LiveClient;
afterEach(async () => {
  vi.restoreAllMocks();
  await client.close();
});

const upgrade = (path: string, headers: Readonly<Record<string, string>> = {}): string =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("")}\r\n`;
const HANDSHAKE = { "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==" };

/** A socket route whose dependency says how many are open. */
function watched(log = logCatcher()) {
  const open = { dependencies: 0 };
  const app = new PorticoApp({
    logger: log,
    shutdown: { deadlineSeconds: 3_600, socketSeconds: 0, delaySeconds: 0, signals: [] },
  });
  const slow = async function* (): AsyncGenerator<number, void, void> {
    open.dependencies++;
    try {
      await sleep(100);
      yield 1;
    } finally {
      open.dependencies--;
    }
  };
  app.socket("/echo", { params: { slow: Depend(slow) } }, async ({ socket }) => {
    for await (const message of socket) socket.send(message);
  });
  return { app, log, open };
}

describe("an upgrade", () => {
  it.each([
    ["to a path that is none", "/nowhere", HANDSHAKE, "404"],
    ["of a foreign origin", "/echo", { ...HANDSHAKE, Origin: "https://evil.example" }, "403"],
    ["without a key", "/echo", { "Sec-WebSocket-Version": "13" }, "400"],
  ])(
    "%s gets a response, and its connection is closed even if the client keeps it open",
    async (_, path, headers, status) => {
      const { app } = watched();
      client = await liveClient(app);
      const connection = await rawConnection(client.port);
      // Reads, and never closes its own half.
      connection.socket.allowHalfOpen = true;
      connection.socket.write(upgrade(path, headers));
      await connection.until(`HTTP/1.1 ${status}`);

      await app.close();

      await expect.poll(() => connection.socket.readableEnded || connection.socket.destroyed).toBe(true);
      connection.socket.destroy();
    },
  );

  it.each(["GET", "POST"])("to another protocol is ignored: %s gets a plain response", async (method) => {
    const { app } = watched();
    app.get("/echo", () => "hello");
    app.post("/echo", async ({ request }) => ({ got: await request.json() }));
    client = await liveClient(app);
    const connection = await rawConnection(client.port);
    const body = method === "POST" ? '{"a":1}' : "";

    connection.socket.write(
      `${method} /echo HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAAAAIAAAAB\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );

    const answer = await connection.until(method === "POST" ? '{"got":{"a":1}}' : '"hello"');
    expect(answer).toMatch(/^HTTP\/1.1 200 /);
    connection.socket.destroy();
  });

  it("to a path without a socket is served like any other request, however slowly the client reads", async () => {
    const { app } = watched();
    const part = "a".repeat(65_536);
    app.get("/large", ({ response }) => response.stream(Readable.from(Array(200).fill(part)), "text/plain"));
    client = await liveClient(app);
    const connection = await rawConnection(client.port);

    connection.socket.pause();
    connection.socket.write(upgrade("/large", HANDSHAKE));
    await sleep(200);
    connection.socket.resume();
    await connection.closed;

    expect(connection.received().split("a").length - 1).toBeGreaterThan(200 * 65_536);
    expect(connection.received()).toMatch(/\r\n0\r\n\r\n$/);
  });

  it.each([
    ["the response to it", ""],
    ["a response before it", "GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n"],
  ])("does not hold up the end of the process when its client does not read %s", async (_, before) => {
    const app = new PorticoApp({
      logger: false,
      shutdown: { deadlineSeconds: 0.5, socketSeconds: 0, delaySeconds: 0, signals: [] },
    });
    app.get("/large", ({ response }) => response.bytes(Buffer.alloc(32 * 1024 ** 2)));
    app.socket("/echo", () => {});
    client = await liveClient(app);
    const connection = await rawConnection(client.port);
    connection.socket.pause();
    connection.socket.write(`${before}${upgrade("/large", HANDSHAKE)}`);
    await sleep(100);

    await app.close();

    expect(connection.received()).toBe("");
    connection.socket.destroy();
  });

  it("does not let a response stay that its client does not read for 30 s", async () => {
    const original = Reflect.get(ServerResponse.prototype, "setTimeout") as (ms: number, done?: () => void) => never;
    vi.spyOn(ServerResponse.prototype, "setTimeout").mockImplementation(function (this: ServerResponse, _ms, done) {
      return original.call(this, 200, done as () => void);
    });
    const { app } = watched();
    const cut = Promise.withResolvers<void>();
    app.engine.server.on("connection", (socket) => socket.once("close", () => cut.resolve()));
    app.get("/large", ({ response }) => response.bytes(Buffer.alloc(32 * 1024 ** 2)));
    client = await liveClient(app);
    const connection = await rawConnection(client.port);

    connection.socket.pause();
    connection.socket.write(upgrade("/large", HANDSHAKE));
    await cut.promise;
    connection.socket.resume();
    await connection.closed;

    expect(connection.received().length).toBeLessThan(32 * 1024 ** 2);
  });

  it("whose client disconnects early, or with an invalid handshake, is not logged as an error", async () => {
    const { app, log, open } = watched();
    client = await liveClient(app);

    const leaving = await rawConnection(client.port);
    leaving.socket.write(upgrade("/echo", HANDSHAKE));
    await expect.poll(() => open.dependencies).toBe(1);
    leaving.socket.destroy();
    const wrong = await rawConnection(client.port);
    wrong.socket.write(upgrade("/echo", { "Sec-WebSocket-Version": "13" }));
    await wrong.until("HTTP/1.1 400");

    await expect.poll(() => open.dependencies).toBe(0);
    expect(log.lines.filter(({ level }) => level === "error" || level === "warn")).toEqual([]);
  });
});

describe("an upgrade behind a pending response", () => {
  it("is served after it as a plain request", async () => {
    const { app, log } = watched();
    app.get("/slow", async () => {
      await sleep(30);
      return "slow";
    });
    client = await liveClient(app);
    const connection = await rawConnection(client.port);

    connection.socket.write(`GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n${upgrade("/echo", HANDSHAKE)}`);
    await connection.closed;

    expect(connection.received().match(/HTTP\/1.1 \d+|"slow"|UPGRADE_REQUIRED/gi)).toEqual([
      "HTTP/1.1 200",
      '"slow"',
      "HTTP/1.1 426",
      "upgrade_required",
    ]);
    expect(log.lines.filter(({ level }) => level === "error")).toEqual([]);
  });

  it("does not stop it, however slowly the client reads", async () => {
    const { app } = watched();
    const part = "a".repeat(65_536);
    app.get("/large", ({ response }) => response.stream(Readable.from(Array(200).fill(part)), "text/plain"));
    client = await liveClient(app);
    const connection = await rawConnection(client.port);

    connection.socket.pause();
    connection.socket.write(`GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n${upgrade("/nowhere", HANDSHAKE)}`);
    await sleep(200);
    connection.socket.resume();
    await connection.closed;

    expect(connection.received().split("a").length - 1).toBeGreaterThan(200 * 65_536);
    expect(connection.received()).toMatch(/\r\n0\r\n\r\nHTTP\/1.1 404 /);
  });
});

describe("a handler of a server event that throws", () => {
  /** A logger that fails where Fastify makes one for a request: outside of everything that catches errors of handlers. */
  async function failing(): Promise<readonly (readonly [sentence: string, details: object])[]> {
    const errors: (readonly [string, object])[] = [];
    const ignore = (): void => {};
    let isFailing = false;
    const logger: Logger = {
      level: "info",
      trace: ignore,
      debug: ignore,
      info: ignore,
      warn: ignore,
      fatal: ignore,
      error: (details, sentence) => void errors.push([sentence, details]),
      child: () => {
        if (isFailing) throw new Error("no more loggers");
        return logger;
      },
    };
    const app = new PorticoApp({ logger, openapi: false }).get("/", () => "hello").socket("/echo", () => {});
    app.engine.addHook("onRequest", async () => {});
    client = await liveClient(app);
    isFailing = true;
    return errors;
  }
  const messages = {
    "a request": "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "a body that waits": "POST / HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n",
    "an upgrade": upgrade("/echo", HANDSHAKE),
    CONNECT: "CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n",
  };

  it.each(Object.entries(messages))("closes the connection and is logged: %s", async (_, message) => {
    const errors = await failing();
    const connection = await rawConnection(client.port);

    connection.socket.write(message);
    await connection.closed;

    expect(connection.received()).toBe("");
    expect(errors).toEqual([["closed a connection because its handler failed", { err: new Error("no more loggers") }]]);
  });
});
