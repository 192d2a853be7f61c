import { setTimeout as sleep } from "node:timers/promises";
import { Depend, PorticoApp } from "portico";
import { type LiveClient, liveClient, logCatcher } from "portico/testing";
import { afterEach, describe, expect, it } from "vitest";
import { rawConnection } from "./raw-connection.ts";

let client: LiveClient;
afterEach(() => client.close());

const upgrade = (path: string, headers: Readonly<Record<string, string>> = {}): string =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("")}\r\n`;
const HANDSHAKE = { "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==" };

/** A socket route whose dependency says how many are open. */
function watched(log = logCatcher()) {
  const open = { dependencies: 0 };
  const app = new PorticoApp({ logger: log, shutdown: { socketSeconds: 0, delaySeconds: 0, signals: [] } });
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
    "%s is answered, and its connection does not stay for a client that keeps it",
    async (_, path, headers, status) => {
      const { app } = watched();
      client = await liveClient(app);
      const connection = await rawConnection(client.port);
      // Reads, and never closes its own half.
      connection.socket.allowHalfOpen = true;
      connection.socket.write(upgrade(path, headers));
      await connection.until(`HTTP/1.1 ${status}`);

      const began = performance.now();
      await app.close();

      expect(performance.now() - began).toBeLessThan(2_000);
      connection.socket.destroy();
    },
  );

  it.each(["GET", "POST"])("to another protocol is not one: %s is answered as if it had not asked", async (method) => {
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

  it("whose client leaves while it is decided, or that is no handshake, is nobody's error", async () => {
    const { app, log, open } = watched();
    client = await liveClient(app);

    const leaving = await rawConnection(client.port);
    leaving.socket.write(upgrade("/echo", HANDSHAKE));
    await expect.poll(() => open.dependencies).toBe(1);
    leaving.socket.destroy();
    const wrong = await rawConnection(client.port);
    wrong.socket.write(upgrade("/echo", { "Sec-WebSocket-Version": "13" }));
    await wrong.until("HTTP/1.1 400");
    await sleep(200);

    expect(open.dependencies).toBe(0);
    expect(log.lines.filter(({ level }) => level === "error" || level === "warn")).toEqual([]);
  });
});
