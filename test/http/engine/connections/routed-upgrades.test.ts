import { logCatcher } from "portico/testing";
import { describe, expect, it } from "vitest";
import { readResponses } from "../../read-responses.ts";
import { ROUTINGS } from "../routings.ts";
import { connected, get, upgrade } from "./connected.ts";

describe.each(ROUTINGS)("an upgrade that is routed %s", (_, route) => {
  it("becomes a socket, and other requests for its path get the route, or 426", async () => {
    const { client } = await connected((app) =>
      route(app)
        .post("/alone", () => "written")
        .socket("/alone", () => {})
        .get("/both", () => "page")
        .post("/both", () => "written")
        .socket("/both", ({ socket }) => socket.send("socket")),
    );
    const line =
      "POST /both HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 0\r\n\r\n";

    client.socket.write(get("/alone"));
    await client.until("upgrade_required");
    client.socket.write(get("/both"));
    await client.until('"page"');
    client.socket.write(line);
    await client.until('"written"');
    client.socket.write(upgrade("/both"));
    await client.until("socket\u0088");

    const { responses } = readResponses(client.received(), ["GET", "GET", "POST", "GET"]);
    expect(responses.map(({ status }) => status)).toEqual([426, 200, 200, 101]);
    expect(responses[0]?.headers).toContain("upgrade: websocket");
  });

  it("is not one if the protocol is another one, or is written differently", async () => {
    const { client } = await connected((app) =>
      route(app)
        .get("/page", () => "page")
        .socket("/socket", () => {}),
    );
    const other = get("/page", "Connection: Upgrade", "Upgrade: h2c");

    client.socket.write(other);
    await client.until('"page"');
    client.socket.write(other);
    await client.until('"page"HTTP');
    client.socket.write(upgrade("/socket").replace("websocket", "WebSocket"));
    await client.until("101 Switching Protocols");

    expect(client.received().match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 200", "HTTP/1.1 101"]);
  });

  it("gets the response of a plain request if the application has no socket, and its connection is kept", async () => {
    const { client } = await connected((app) => route(app).get("/page", () => "page"));

    client.socket.write(upgrade("/page"));
    await client.until('"page"');
    client.socket.write(get("/page"));
    await client.until('"page"HTTP');

    expect(client.received().toLowerCase()).not.toContain("connection: close");
  });

  it("is rejected by the handshake with 400, which is not an error", async () => {
    const log = logCatcher();
    const { client } = await connected((app) => route(app).socket("/socket", () => {}), { logger: log });

    client.socket.write(get("/socket", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"));
    await client.closed;

    expect(client.received()).toMatch(/^HTTP\/1\.1 400 /);
    expect(log.lines.filter(({ level }) => level === "error")).toEqual([]);
  });

  it("ends without an error if the client disconnects before it is accepted", async () => {
    const log = logCatcher();
    const gate = Promise.withResolvers<void>();
    const steps: string[] = [];
    const { client } = await connected(
      (app) =>
        route(app).socket(
          "/socket",
          {
            middleware: [
              async (_ctx, next) => {
                steps.push("in");
                await gate.promise;
                await next().finally(() => steps.push("out"));
              },
            ],
          },
          () => {},
        ),
      { logger: log },
    );

    client.socket.write(upgrade("/socket"));
    await expect.poll(() => steps).toEqual(["in"]);
    client.socket.resetAndDestroy();
    await client.closed;
    gate.resolve();

    await expect.poll(() => steps.at(-1)).toBe("out");
    expect(log.lines.filter(({ level }) => level === "error")).toEqual([]);
  });
});
