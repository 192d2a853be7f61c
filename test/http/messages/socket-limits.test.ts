import { once } from "node:events";
import type { Socket as Connection } from "node:net";
import { setImmediate as nextRound } from "node:timers/promises";
import { field, schema, subscription, t } from "portico/graphql";
import { type ManualClock, manualClock } from "portico/testing";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { openGraph } from "../../graphql/subscriptions/open.ts";
import { startApp } from "../start-app.ts";
import { CLOSE, PING, PONG, type RawSocket, rawSocket, TEXT } from "./raw-socket.ts";

let clock: ManualClock;
beforeEach(() => {
  clock = manualClock();
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
});
afterEach(() => void vi.useRealTimers());
/** Lets the time pass, and the server look at its sockets. */
function pass(ms: number): void {
  clock.advance(ms);
  vi.advanceTimersByTime(250);
}

const query = { hello: field(t.string)(() => "world") };

describe("messagesPerSecond", () => {
  let started = 0;
  async function start(messagesPerSecond: number): Promise<RawSocket> {
    started = 0;
    const subscriptions = { messagesPerSecond, pingSeconds: 0 };
    const none = subscription(t.int)(async function* () {
      yield ++started;
    });
    const { client } = await openGraph(schema({ query, subscription: { none } }), { app: { clock }, subscriptions });
    const socket = await rawSocket(client.port, "/graphql", "graphql-transport-ws");
    socket.send([TEXT, '{"type":"connection_init"}']);
    await socket.connection.until("connection_ack");
    return socket;
  }
  const ping = [TEXT, '{"type":"ping"}'] as const;
  const subscribe = [TEXT, '{"type":"subscribe","id":"1","payload":{"query":"subscription { none }"}}'] as const;
  const closeOf = ({ frames }: RawSocket): string | undefined =>
    frames().find(({ opcode }) => opcode === CLOSE)?.payload;
  const pongsOf = ({ frames }: RawSocket): number => frames().filter(({ payload }) => payload.includes("pong")).length;

  it.each([
    ["messages", ping],
    ["ping frames", [PING, "ping"]],
    ["pong frames", [PONG, "pong"]],
  ] as const)("closes with 1008 above it: %s", async (_, frame) => {
    const socket = await start(4);

    // The first message was connection_init.
    socket.send(frame, frame);
    clock.advance(999);
    socket.send(ping);
    await expect.poll(() => pongsOf(socket)).toBeGreaterThan(0);
    const before = closeOf(socket);
    socket.send(frame);
    await expect.poll(() => closeOf(socket)).toBe("\u0003\u00f0too many messages");

    expect(before).toBeUndefined();
  });

  it("starts nothing for the message that exceeds it", async () => {
    const [above, within] = [await start(2), await start(3)];

    above.send(ping, subscribe);
    await expect.poll(() => closeOf(above)).toBeDefined();
    const before = started;
    within.send(ping, subscribe);
    await within.connection.until("complete");

    expect([before, started]).toEqual([0, 1]);
  });

  it("counts anew after each second", async () => {
    const socket = await start(3);

    for (let second = 1; second <= 3; second++) {
      clock.advance(1_000);
      socket.send(ping, ping, ping);
      await expect.poll(() => pongsOf(socket)).toBe(3 * second);
    }

    expect(closeOf(socket)).toBeUndefined();
    socket.send(ping);
    await expect.poll(() => closeOf(socket)).toBeDefined();
    expect(pongsOf(socket)).toBe(9);
  });

  it("has no limit with 0", async () => {
    const socket = await start(0);

    for (let count = 0; count < 600; count++) socket.send(ping);
    await expect.poll(() => pongsOf(socket)).toBe(600);

    expect(closeOf(socket)).toBeUndefined();
  });
});

describe("a subscription whose client does not read", () => {
  const TOTAL = 400;
  async function start() {
    const state = { produced: 0, isOver: false };
    const events = subscription(t.string)(async function* () {
      try {
        while (state.produced < TOTAL) yield `${++state.produced} `.padEnd(65_536, "x");
      } finally {
        state.isOver = true;
      }
    });
    const subscriptions = { pingSeconds: 0, pauseAbove: "128kb", maxBuffered: "1gb" } as const;
    const { app, client } = await openGraph(schema({ query, subscription: { events } }), {
      app: { clock },
      subscriptions,
    });
    const accepted = once(app.engine.server, "connection") as Promise<[Connection]>;
    const socket = await rawSocket(client.port, "/graphql", "graphql-transport-ws");
    const [server] = await accepted;
    socket.send([TEXT, '{"type":"connection_init"}']);
    await socket.connection.until("connection_ack");
    socket.connection.socket.pause();
    const operation = JSON.stringify({ type: "subscribe", id: "1", payload: { query: "subscription { events }" } });
    socket.send([TEXT, operation]);
    await expect.poll(() => server.writableLength).toBeGreaterThan(128 * 1024);
    return { state, server, client: socket.connection.socket };
  }
  /** What is not paused goes on in each round of the event loop. */
  async function rounds(): Promise<void> {
    for (let count = 0; count < 50; count++) await nextRound();
  }

  it("pauses above pauseAbove, and goes on when the client has read", async () => {
    const { state, server, client } = await start();
    await rounds();
    const before = state.produced;
    await rounds();
    const [after, buffered] = [state.produced, server.writableLength];

    client.resume();
    await expect.poll(() => state.isOver).toBe(true);
    pass(60_000);
    await rounds();

    expect(after).toBe(before);
    expect(after).toBeLessThan(TOTAL);
    expect(buffered).toBeLessThan(256 * 1024);
    expect(server.destroyed).toBe(false);
  });

  it("is disconnected when it has read nothing for more than 30 seconds", async () => {
    const { state, server } = await start();
    await rounds();

    pass(30_000);
    await rounds();
    const before = [server.destroyed, state.isOver];
    pass(1);
    await expect.poll(() => [server.destroyed, state.isOver]).toEqual([true, true]);

    expect(before).toEqual([false, false]);
    expect(state.produced).toBeLessThan(TOTAL);
  });
});

describe("maxBuffered", () => {
  it("disconnects a client that leaves more than that unread", async () => {
    const unread: number[] = [];
    const isOver = Promise.withResolvers<void>();
    const { port } = await startApp((app) =>
      app.socket("/ws", { maxBuffered: "1mb", pingSeconds: 0 }, async ({ socket, ctx }) => {
        // The operating system may take several megabytes.
        while (!ctx.signal.aborted && unread.length < 1_000) {
          socket.send("x".repeat(65_536));
          unread.push(socket.bufferedAmount);
          await nextRound();
        }
        isOver.resolve();
      }),
    );
    const { connection } = await rawSocket(port, "/ws");
    connection.socket.pause();
    await isOver.promise;

    expect(unread.length).toBeLessThan(1_000);
    expect(Math.max(...unread)).toBeGreaterThan(1024 ** 2);
    expect(Math.max(...unread)).toBeLessThan(1024 ** 2 + 70_000);
  });
});

describe("a socket of the application", () => {
  const isRead = async (socket: RawSocket): Promise<void> => {
    socket.send([TEXT, "are you there?"]);
    await socket.connection.until("yes");
  };
  async function start(options: object = {}) {
    const served: { engine?: Connection } = {};
    const { port } = await startApp(
      (app) => {
        app.engine.server.on("connection", (connection: Connection) => {
          served.engine = connection;
        });
        return app.socket("/ws", { pingSeconds: 0, ...options }, async ({ socket }) => {
          for await (const _ of socket) socket.send("yes");
        });
      },
      { clock },
    );
    const socket = await rawSocket(port, "/ws");
    await isRead(socket);
    return { socket, server: served.engine as Connection };
  }
  const ended = ({ connection }: RawSocket): Promise<unknown> => once(connection.socket, "close");
  const many = <T>(count: number, one: T): T[] => Array.from({ length: count }, () => one);

  it("is closed with 1008 above 1,000 messages and pings per second", async () => {
    const { socket } = await start();
    // The first message was one of them.
    socket.send(...many(999, [PING, ""] as const));
    await expect.poll(() => socket.frames().filter(({ opcode }) => opcode === PONG).length).toBe(999);
    const before = socket.frames().some(({ opcode }) => opcode === CLOSE);

    socket.send([PING, ""]);
    await socket.connection.until("too many messages");

    expect(before).toBe(false);
  });

  it("has a higher limit, or none, if its route says so", async () => {
    const { socket } = await start({ messagesPerSecond: 0 });

    socket.send(...many(2_000, [PONG, ""] as const));
    socket.connection.socket.write("");
    await isRead(socket);

    expect(socket.frames().some(({ opcode }) => opcode === CLOSE)).toBe(false);
  });

  it("responds to each ping of a client that reads, with its payload", async () => {
    const { socket } = await start();

    socket.send([PING, "one"], [PING, "two"]);
    await socket.connection.until("two");

    expect(socket.frames().flatMap(({ opcode, payload }) => (opcode === PONG ? [payload] : []))).toEqual([
      "one",
      "two",
    ]);
  });

  it("responds only to the last ping of a client that has much to read", async () => {
    const { socket, server } = await start({ messagesPerSecond: 0 });
    // Everything that is written meanwhile waits, as behind a client that does not read.
    server.cork();
    let bytes = server.bytesRead;
    const read = async (count: number, payload: string): Promise<void> => {
      socket.send(...many(count, [PING, payload] as const));
      // The header and the mask have six bytes.
      bytes += count * (6 + payload.length);
      await expect.poll(() => server.bytesRead).toBe(bytes);
      await rounds();
    };
    for (let sent = 0; sent < 40; sent++) await read(500, `${sent}`);
    await read(1, "the last one");
    const held = server.writableLength;
    server.uncork();
    await rounds();
    pass(250);
    await socket.connection.until("the last one");

    expect(held).toBeLessThan(2_000);
    expect(socket.frames().filter(({ opcode }) => opcode === PONG).length).toBeLessThan(400);
  });

  it("counts 256 bytes for each unread message, since an empty one occupies memory too", async () => {
    const { socket, server } = await start({ messagesPerSecond: 0, maxBuffered: "64kb" });
    server.cork();
    const isCut = ended(socket);

    socket.send(...many(400, [TEXT, ""] as const));
    await isCut;

    expect(server.writableLength).toBeLessThan(300 * 10);
  });

  it("is disconnected when its client has read nothing for more than 30 seconds, though it sends pongs", async () => {
    const { socket, server } = await start({ pingSeconds: 10 });
    server.cork();
    socket.send([TEXT, "never read"]);
    await expect.poll(() => server.writableLength).toBeGreaterThan(0);
    const isCut = ended(socket);

    for (let waited = 0; waited < 30_000; waited += 10_000) {
      pass(10_000);
      const { bytesRead } = server;
      socket.send([PONG, ""]);
      await expect.poll(() => server.bytesRead).toBeGreaterThan(bytesRead);
    }
    const before = server.destroyed;
    pass(250);
    await isCut;

    expect(before).toBe(false);
  });

  /** What is not paused goes on in each round of the event loop. */
  async function rounds(): Promise<void> {
    for (let count = 0; count < 50; count++) await nextRound();
  }
});
