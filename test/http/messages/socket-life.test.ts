import { once } from "node:events";
import type { Socket as Connection } from "node:net";
import { PorticoApp } from "portico";
import { liveClient, manualClock } from "portico/testing";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { startApp } from "../start-app.ts";
import { CLOSE, PING, PONG, rawSocket, TEXT } from "./raw-socket.ts";

afterEach(() => void vi.useRealTimers());

const echo = (app: PorticoApp, options: { readonly pingSeconds?: number } = {}): PorticoApp =>
  app.socket("/ws", options, async ({ socket }) => {
    socket.send("open");
    for await (const message of socket) socket.send(message);
  });

describe("pings", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] }));

  async function start(pingSeconds: number) {
    const clock = manualClock();
    const { port } = await startApp((app) => echo(app, { pingSeconds }), { clock });
    const socket = await rawSocket(port, "/ws");
    await socket.connection.until("open");
    let sent = 0;
    return {
      ...socket,
      /** Lets the time pass. */
      pass: (ms: number) => {
        clock.advance(ms);
        vi.advanceTimersByTime(250);
      },
      /** Waits until the server has read all frames, and returns the number of pings until then. */
      pings: async () => {
        const text = `message ${++sent}`;
        socket.send([TEXT, text]);
        await socket.connection.until(text);
        return socket.frames().filter(({ opcode }) => opcode === PING).length;
      },
    };
  }

  it("are sent every pingSeconds, while the client responds", async () => {
    const { pass, pings, send } = await start(10);
    const counts: number[] = [];

    for (let round = 0; round < 3; round++) {
      pass(9_999);
      counts.push(await pings());
      pass(1);
      counts.push(await pings());
      send([PONG, ""]);
    }

    expect(counts).toEqual([0, 1, 1, 2, 2, 3]);
  });

  it("disconnect a client that has not responded by the next one", async () => {
    const { pass, pings, connection, frames } = await start(10);
    pass(10_000);
    const before = await pings();
    pass(9_999);
    const last = await pings();
    pass(1);
    await connection.closed;

    expect([before, last]).toEqual([1, 1]);
    expect(frames().map(({ opcode }) => opcode)).not.toContain(CLOSE);
  });

  it("are not sent with pingSeconds: 0", async () => {
    const { pass, pings } = await start(0);
    for (let round = 0; round < 3; round++) pass(3_600_000);

    expect(await pings()).toBe(0);
  });
});

describe("messages that are not read yet", () => {
  /** A handler that reads one message each time it is told to, and the connection on the server's side. */
  async function start() {
    const [read, reading] = [[] as string[], [] as (() => void)[]];
    const app = new PorticoApp({ logger: false }).socket("/ws", async ({ socket }) => {
      const messages = socket[Symbol.asyncIterator]();
      for (;;) {
        await new Promise<void>((resolve) => reading.push(resolve));
        const next = await messages.next();
        if (next.done === true) return;
        read.push(String(next.value));
      }
    });
    const client = await liveClient(app);
    onTestFinished(() => client.close());
    const accepted = once(app.engine.server, "connection") as Promise<[Connection]>;
    const socket = await rawSocket(client.port, "/ws");
    const [connection] = await accepted;
    return {
      ...socket,
      server: connection,
      read,
      take: async (count: number) => {
        for (let taken = 0; taken < count; taken++) {
          await expect.poll(() => reading.length).toBe(1);
          reading.shift()?.();
        }
      },
    };
  }

  it("pause the connection from 16 on, until half of them are read", async () => {
    const { send, server, take, read } = await start();
    const before = server.bytesRead;
    for (let count = 1; count <= 15; count++) send([TEXT, `${count}`]);
    await expect.poll(() => server.bytesRead - before).toBe(9 * 7 + 6 * 8);
    const paused = [server.isPaused()];

    send([TEXT, "16"]);
    await expect.poll(() => server.isPaused()).toBe(true);
    await take(7);
    await expect.poll(() => read.length).toBe(7);
    paused.push(server.isPaused());
    await take(1);
    await expect.poll(() => read.length).toBe(8);
    paused.push(server.isPaused());
    send([TEXT, "17"]);
    await take(9);
    await expect.poll(() => read.length).toBe(17);

    expect(paused).toEqual([false, true, false]);
    expect(read).toEqual(Array.from({ length: 17 }, (_, index) => `${index + 1}`));
  });

  it("are read after the client has closed the socket, and then the loop ends", async () => {
    const { send, take, read, connection } = await start();

    send([TEXT, "one"], [TEXT, "two"], [CLOSE, "\u0003\u00e8"]);
    await connection.closed;
    await take(3);

    expect(read).toEqual(["one", "two"]);
  });
});

describe("a socket that the handler closes", () => {
  it("is closed with 1000 by default, and only once", async () => {
    const { socket: open } = await startApp((app) =>
      app
        .socket("/plain", ({ socket }) => {
          socket.close();
          socket.close(4001, "again");
        })
        .socket("/reasons", ({ socket }) => {
          socket.close(4001, "done");
          socket.close(4002, "again");
        }),
    );

    expect(await (await open("/plain")).closed).toEqual({ code: 1000, reason: "" });
    expect(await (await open("/reasons")).closed).toEqual({ code: 4001, reason: "done" });
  });

  it("neither sends nor receives anything afterwards", async () => {
    const received: unknown[] = [];
    const isOver = Promise.withResolvers<void>();
    const { port } = await startApp((app) =>
      app.socket("/ws", async ({ socket }) => {
        socket.send(`${socket.bufferedAmount} unread`);
        for await (const message of socket) {
          received.push(message);
          socket.close(4000, "enough");
          socket.send("too late");
          socket.send(new Uint8Array(3));
          received.push(socket.bufferedAmount);
        }
        isOver.resolve();
      }),
    );
    const { send, connection, frames } = await rawSocket(port, "/ws");

    send([TEXT, "first"]);
    await connection.until("enough");
    send([TEXT, "second"], [CLOSE, "\u000f\u00a0"]);
    await Promise.all([connection.closed, isOver.promise]);

    expect(received).toEqual(["first", 0]);
    expect(frames().map(({ opcode, payload }) => [opcode, payload])).toEqual([
      [TEXT, "0 unread"],
      [CLOSE, "\u000f\u00a0enough"],
    ]);
  });

  it("is cut after five seconds if the client does not confirm it", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { port } = await startApp((app) => app.socket("/ws", ({ socket }) => socket.close(4000, "enough")));
    const { connection } = await rawSocket(port, "/ws");
    await connection.until("enough");
    let isClosed = false;
    void connection.closed.then(() => {
      isClosed = true;
    });

    vi.advanceTimersByTime(4_999);
    const other = await rawSocket(port, "/ws");
    await other.connection.until("enough");
    const before = isClosed;
    vi.advanceTimersByTime(1);
    await connection.closed;

    expect(before).toBe(false);
    other.send([CLOSE, "\u000f\u00a0"]);
    await other.connection.closed;
    await expect.poll(() => vi.getTimerCount()).toBe(0);
  });
});
