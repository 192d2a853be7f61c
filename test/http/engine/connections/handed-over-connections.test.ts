import { once } from "node:events";
import { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import type { PorticoApp } from "portico";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { readResponses } from "../../read-responses.ts";
import { ROUTINGS } from "../routings.ts";
import { type Connected, connected, get, SHUTDOWN, upgrade } from "./connected.ts";

// Node hands a connection over with an upgrade. From then on, the application takes care of it.

const PART = "a".repeat(65_536);
const PARTS = 150;

/** A connection to routes of several kinds, and to a socket, without which no upgrade is one. */
async function opened(declare: (app: PorticoApp) => unknown, options = {}): Promise<Connected> {
  return connected((app) => declare(app.socket("/socket", () => {})), options);
}
const large = (app: PorticoApp): PorticoApp =>
  app.get("/large", ({ response }) => response.stream(Readable.from(Array(PARTS).fill(PART)), "text/plain"));

/** Waits until the connection takes no more, because its client does not read. */
async function untilFull({ server }: Connected): Promise<void> {
  await expect.poll(() => server.writableNeedDrain, { interval: 1 }).toBe(true);
}

describe("a connection that was handed over with a rejected upgrade", () => {
  it.each(ROUTINGS)("carries a plain response that closes it (routed %s)", async (_, route) => {
    const { client } = await opened((app) => route(app).get("/page", () => "page"));

    client.socket.write(upgrade("/page"));
    await client.closed;

    const { responses } = readResponses(client.received(), ["GET"]);
    expect(responses).toMatchObject([{ status: 200, body: '"page"', isComplete: true }]);
    expect(responses[0]?.headers.toLowerCase()).toContain("\r\nconnection: close\r\n");
  });

  it("is cut 250 ms after the response if the client keeps its half", async () => {
    const { client, server } = await opened((app) => app.get("/page", () => "page"));
    client.socket.allowHalfOpen = true;
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const ended = once(client.socket, "end");

    client.socket.write(upgrade("/page"));
    await ended;
    vi.advanceTimersByTime(249);
    const isKept = !server.destroyed;
    vi.advanceTimersByTime(1);

    expect([isKept, server.destroyed]).toEqual([true, true]);
  });

  it("forgets to cut it when the client has closed it", async () => {
    const { client, server } = await opened((app) => app.get("/page", () => "page"));
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());

    client.socket.write(upgrade("/page"));
    await client.closed;
    await expect.poll(() => server.closed).toBe(true);

    expect(vi.getTimerCount()).toBe(0);
  });

  it.each([
    ["the response to it", ""],
    ["the response before it", get("/large")],
  ])("continues %s when the client reads on", async (_, before) => {
    const pair = await opened(large);
    const { client } = pair;

    client.socket.pause();
    client.socket.write(before + upgrade("/large"));
    await untilFull(pair);
    client.socket.resume();
    await client.closed;

    const { responses } = readResponses(client.received(), ["GET", "GET"]);
    expect(responses.map(({ body, isComplete }) => [body.length, isComplete])).toEqual(
      Array.from({ length: before === "" ? 1 : 2 }, () => [PARTS * PART.length, true]),
    );
  });

  it("is cut if the client stops reading the response", async () => {
    const original = Reflect.get(ServerResponse.prototype, "setTimeout") as (ms: number, done?: () => void) => never;
    vi.spyOn(ServerResponse.prototype, "setTimeout").mockImplementation(function (this: ServerResponse, _ms, done) {
      return original.call(this, 20, done as () => void);
    });
    onTestFinished(() => void vi.restoreAllMocks());
    const { client, server } = await opened(large);
    const cut = once(server, "close");

    client.socket.pause();
    client.socket.write(upgrade("/large"));
    await cut;

    expect(server.bytesWritten).toBeLessThan(PARTS * PART.length);
  });

  it("is cut by the deadline of a shutdown", async () => {
    const pair = await opened(large, {
      shutdown: { ...SHUTDOWN, deadlineSeconds: 0.05 },
    });
    const { app, client, server } = pair;

    client.socket.pause();
    client.socket.write(upgrade("/large"));
    await untilFull(pair);
    await app.close();

    expect(server.destroyed).toBe(true);
  });
});

describe("an upgrade behind a pending response", () => {
  /** A route that ends when the test says so, and whether its client has left. */
  function slow() {
    const handler = Promise.withResolvers<string>();
    const state = { isCalled: false, isAborted: false, next: 0 };
    const declare = (app: PorticoApp): unknown =>
      app
        .get("/slow", ({ ctx, response, query }) => {
          state.isCalled = true;
          ctx.signal.addEventListener("abort", () => {
            state.isAborted = true;
          });
          if (query["last"] !== undefined) response.header("connection", "close");
          return handler.promise.then((text) => response.text(text));
        })
        .get("/next", () => {
          state.next++;
          return "next";
        });
    return { handler, state, declare };
  }

  it("waits for it", async () => {
    const { handler, state, declare } = slow();
    const { client } = await opened(declare);

    client.socket.write(get("/slow") + upgrade("/next"));
    await expect.poll(() => state.isCalled).toBe(true);
    const before = client.received();
    handler.resolve("slow");
    await client.closed;

    expect([before, state]).toEqual(["", { isCalled: true, isAborted: false, next: 1 }]);
    expect(readResponses(client.received(), ["GET", "GET"]).responses).toMatchObject([
      { status: 200, body: "slow" },
      { status: 200, body: '"next"' },
    ]);
  });

  it("is not served if that response closes the connection", async () => {
    const { handler, state, declare } = slow();
    const { client } = await opened(declare);

    client.socket.write(get("/slow?last") + upgrade("/next"));
    await expect.poll(() => state.isCalled).toBe(true);
    handler.resolve("slow");
    await client.closed;

    expect(readResponses(client.received(), ["GET"]).responses).toMatchObject([{ status: 200, body: "slow" }]);
    expect(state.next).toBe(0);
  });

  it.each(["half closes", "resets"])(
    "is given up, and so is that response, if the client %s the connection",
    async (how) => {
      const { state, declare } = slow();
      const { client } = await opened(declare);

      client.socket.write(`${get("/slow")}${upgrade("/next")}anything`);
      await expect.poll(() => state.isCalled).toBe(true);
      if (how === "resets") client.socket.resetAndDestroy();
      else client.socket.end();
      await client.closed;

      await expect.poll(() => state).toEqual({ isCalled: true, isAborted: true, next: 0 });
      expect(client.received()).toBe("");
    },
  );
});
