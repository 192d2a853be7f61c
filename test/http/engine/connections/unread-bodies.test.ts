import { once } from "node:events";
import { setImmediate as turn } from "node:timers/promises";
import { type Gate, HttpException, PorticoApp } from "portico";
import { logCatcher } from "portico/testing";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { ROUTINGS } from "../routings.ts";
import { type Connected, connected, get } from "./connected.ts";

const closed: Gate<true> = {
  required: true,
  scopes: [],
  check() {
    throw new HttpException(401, "sign in first");
  },
};

async function opened(route = (app: PorticoApp): PorticoApp => app): Promise<Connected> {
  const pair = await connected((app) =>
    route(app)
      .post("/refused", { auth: closed }, () => "never")
      .post("/later", async () => {
        // By now a short body is there, but not read.
        await turn();
        return "later";
      })
      .get("/next", () => "next"),
  );
  // The server decides when the connection ends.
  pair.client.socket.allowHalfOpen = true;
  return pair;
}

const post = (path: string, ...headers: readonly string[]): string =>
  [`POST ${path} HTTP/1.1`, "Host: x", ...headers, "", ""].join("\r\n");
const NEXT = get("/next");

// The timer that cuts a connection is moved by hand. Everything else takes its time.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
});

describe("a body that no handler reads", () => {
  it("keeps its connection if it has at most 64 KiB and arrives", async () => {
    const { client, server } = await opened();

    client.socket.write(post("/refused", "Content-Length: 65536"));
    const refused = await client.until("sign in first");
    client.socket.write(Buffer.alloc(65_536));
    client.socket.write(NEXT);
    await client.until('"next"');
    vi.advanceTimersByTime(250);
    client.socket.write(NEXT);
    await client.until('"next"HTTP');

    expect(refused).toMatch(/^HTTP\/1\.1 401 /);
    expect(refused.toLowerCase()).toContain("connection: keep-alive");
    expect(server.destroyed).toBe(false);
  });

  it("loses its connection if it has not arrived 250 ms after the response", async () => {
    const { client, server } = await opened();

    client.socket.write(post("/refused", "Content-Length: 9"));
    await client.until("sign in first");
    await expect.poll(() => vi.getTimerCount()).toBeGreaterThan(0);
    vi.advanceTimersByTime(249);
    const isKept = !server.destroyed;
    vi.advanceTimersByTime(1);

    expect([isKept, server.destroyed]).toEqual([true, true]);
  });

  it.each(
    ["Content-Length: 65537", "Transfer-Encoding: chunked"].flatMap((length) =>
      ROUTINGS.map(([name, route]) => [length, name, route] as const),
    ),
  )("leaves the client 250 ms to read the response if it is long: %s, routed %s", async (length, _, route) => {
    const { client, server } = await opened(route);
    const ended = once(client.socket, "end");

    client.socket.write(post("/refused", length));
    const refused = await client.until("sign in first");
    await ended;
    vi.advanceTimersByTime(249);
    const isKept = !server.destroyed;
    vi.advanceTimersByTime(1);

    expect(refused).toMatch(/^HTTP\/1\.1 401 /);
    expect(refused.toLowerCase()).toContain("connection: close");
    expect([isKept, server.destroyed]).toEqual([true, true]);
  });

  it("is not received after the response if it is long, even if the client sends it all", async () => {
    const { client, server } = await opened();
    const [ended, cut] = [once(client.socket, "end"), once(server, "close")];

    client.socket.write(post("/refused", `Content-Length: ${32 * 1024 ** 2}`));
    await client.until("sign in first");
    await expect.poll(() => server.isPaused()).toBe(true);
    client.socket.write(Buffer.alloc(32 * 1024 ** 2));
    await ended;
    vi.advanceTimersByTime(250);
    await cut;

    expect(server.bytesRead).toBeLessThan(1024 ** 2);
  });

  it("keeps its connection if the whole body is there before the response", async () => {
    const { client } = await opened();

    client.socket.write(`${post("/later", "Transfer-Encoding: chunked")}5\r\nhello\r\n0\r\n\r\n${NEXT}`);
    await client.until('"next"');

    expect(client.received().toLowerCase()).not.toContain("connection: close");
  });

  it("does not exist if the request announces none, so its connection is kept", async () => {
    const { client } = await opened();

    client.socket.write(post("/refused") + NEXT);
    await client.until('"next"');

    expect(client.received().toLowerCase()).not.toContain("connection: close");
    expect(vi.getTimerCount()).toBe(0);
  });

  it("does not keep a connection that the client has asked to close", async () => {
    const { client, server } = await opened();
    const cut = once(server, "close");

    client.socket.write(`${post("/refused", "Content-Length: 4", "Connection: close")}body`);
    await cut;

    expect(await client.until("sign in first")).toMatch(/^HTTP\/1\.1 401 /);
  });

  it("is ignored in an injected request, which has no connection", async () => {
    const app = new PorticoApp({ logger: false }).post("/", () => "unread");

    const { status, body } = await app.inject({ method: "POST", url: "/", body: Buffer.alloc(70_000) });

    expect([status, body.toString(), vi.getTimerCount()]).toEqual([200, '"unread"', 0]);
  });

  it("is not an error if the client has left after the handler has stopped reading it", async () => {
    const log = logCatcher();
    let isLeft = false;
    const { client } = await connected(
      (app) =>
        app.post("/first", async ({ request, ctx }) => {
          for await (const chunk of request.stream) if (chunk.length > 0) break;
          if (!ctx.signal.aborted) await once(ctx.signal, "abort");
          isLeft = true;
          return "too late";
        }),
      { logger: log },
    );

    client.socket.write(`${post("/first", "Transfer-Encoding: chunked")}5\r\nhello\r\n`);
    client.socket.end();
    await expect.poll(() => isLeft).toBe(true);
    await client.closed;

    expect(log.lines.filter(({ level }) => level === "error")).toEqual([]);
  });
});
