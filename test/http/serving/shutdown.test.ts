import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { PorticoApp } from "portico";
import { testClient } from "portico/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { WebSocket } from "ws";
import { startApp } from "../start-app.ts";

/** The application in a server that stays when the application is closed. */
async function hosted(app: PorticoApp): Promise<string> {
  const server = createServer(app.handler).on("upgrade", app.upgradeHandler);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe("an application that is closed", () => {
  it("rejects requests with a code that says so, and is alive but not ready", async () => {
    const app = new PorticoApp({ logger: false }).get("/", () => "here");
    const url = await hosted(app);
    expect((await fetch(url)).status).toBe(200);

    await app.close();
    const refused = await fetch(url);
    const [live, ready] = [await fetch(`${url}/livez`), await fetch(`${url}/readyz`)];

    expect([refused.status, refused.headers.get("retry-after"), await refused.json()]).toEqual([
      503,
      "1",
      expect.objectContaining({ code: "shutting_down", detail: "The server is shutting down" }),
    ]);
    expect([live.status, ready.status, await ready.json()]).toMatchObject([200, 503, { status: "not ready" }]);
  });

  it("rejects sockets as well", async () => {
    const app = new PorticoApp({ logger: false }).socket("/chat", () => {});
    const url = await hosted(app);
    await app.close();

    const end = await new Promise((resolve) => {
      new WebSocket(`${url.replace("http", "ws")}/chat`)
        .on("unexpected-response", (_request, answer) => resolve(answer.statusCode))
        .on("error", () => resolve("cut"))
        .on("open", () => resolve("open"));
    });

    // Fastify's routing is closed by then, so it can only end the connection.
    expect([503, "cut"]).toContain(end);
  });
});

it("an application that drains is not ready, and serves requests until its delay has passed", async () => {
  const app = new PorticoApp({ logger: false, shutdown: { delaySeconds: 20 } }).get("/", () => "here");
  const client = testClient(app);
  const before = await client.get("/readyz");

  void app.drain();
  const [during, answer] = [await client.get("/readyz"), await client.get("/")];

  expect([before.status, before.json()]).toEqual([200, { status: "ready", checks: {} }]);
  expect([during.status, during.json()]).toEqual([503, { status: "not ready", checks: {} }]);
  expect([answer.status, answer.json()]).toEqual([200, "here"]);
});

it("a socket is told that the server goes away, and its handler ends", async () => {
  const ends: unknown[] = [];
  const client = await startApp((app) => {
    app.socket("/chat", async ({ socket, ctx }) => {
      for await (const _ of socket);
      ends.push(ctx.signal.aborted);
    });
    app.onClose(() => void ends.push("closed"));
  });
  const socket = await client.socket("/chat");

  await client.close();

  expect(await socket.closed).toEqual({ code: 1001, reason: "Going away" });
  expect(ends).toEqual([true, "closed"]);
});
