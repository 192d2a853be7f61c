import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { get, upgrade } from "../engine/connections/connected.ts";
import { startApp } from "../start-app.ts";

const THIRD = new Uint8Array(32 * 1024 ** 2);

interface Unread {
  readonly client: Socket;
  readonly isCut: () => boolean;
}

/** Clients that request 32 MiB from an address of their own, and read nothing. */
async function start(): Promise<(localAddress?: string, path?: string) => Promise<Unread>> {
  const connections = new Map<number | undefined, Socket>();
  const { port } = await startApp((app) => {
    app.get("/", ({ response }) => response.bytes(THIRD));
    app.socket("/socket", { maxBuffered: "1gb", pingSeconds: 0 }, ({ socket, ctx }) => {
      socket.send(THIRD.subarray(1_024));
      return new Promise((resolve) => ctx.signal.addEventListener("abort", () => resolve()));
    });
    app.get("/stream", ({ response }) => response.stream(endless()));
    app.engine.server.on("connection", (socket) => connections.set(socket.remotePort, socket));
  });
  return async (localAddress = "127.0.0.1", path = "/") => {
    const client = connect({ port, host: "127.0.0.1", localAddress });
    onTestFinished(() => void client.destroy());
    client.on("error", () => {}).pause();
    client.write(path === "/socket" ? upgrade(path) : get(path));
    await once(client, "connect");
    const { localPort } = client;
    const server = (): Socket | undefined => connections.get(localPort);
    await expect.poll(() => (server()?.writableLength ?? 0) > 0 || server()?.destroyed === true).toBe(true);
    return { client, isCut: () => server()?.destroyed === true };
  };
}

async function* endless(): AsyncGenerator<Uint8Array> {
  for (;;) yield new Uint8Array(65_536);
}

describe("responses that their clients do not read", () => {
  it("may have 128 MiB together; above that, the oldest is cut off", async () => {
    const request = await start();
    const requests = [await request(), await request(), await request(), await request()];
    const states = [requests.map(({ isCut }) => isCut())];

    for (let count = 0; count < 2; count++) {
      requests.push(await request());
      states.push(requests.map(({ isCut }) => isCut()));
    }

    expect(states).toEqual([
      [false, false, false, false],
      [true, false, false, false, false],
      [true, true, false, false, false, false],
    ]);
  });

  it("are cut off at the address that has most of them", async () => {
    const request = await start();
    const other = await request("127.0.0.2");
    const requests = [await request(), await request()];
    const third = await request("127.0.0.3");
    requests.push(await request(), await request());

    expect([other.isCut(), third.isCut()]).toEqual([false, false]);
    expect(requests.map(({ isCut }) => isCut())).toEqual([true, true, false, false]);
  });

  it("include the messages of sockets", async () => {
    const request = await start();
    const requests = [await request("127.0.0.1", "/socket")];
    for (let count = 0; count < 3; count++) requests.push(await request());
    requests.push(await request("127.0.0.1", "/socket"));
    const first = requests.map(({ isCut }) => isCut());
    requests[4]?.client.destroy();
    await expect.poll(requests[4]?.isCut ?? (() => false)).toBe(true);
    requests.push(await request());

    expect(first).toEqual([true, false, false, false, false]);
    expect(requests.map(({ isCut }) => isCut())).toEqual([true, false, false, false, true, false]);
  });

  it("do not include streams, which wait for their clients", async () => {
    const request = await start();
    const stream = await request("127.0.0.1", "/stream");
    const requests = [await request(), await request(), await request(), await request(), await request()];

    expect(stream.isCut()).toBe(false);
    expect(requests.map(({ isCut }) => isCut())).toEqual([true, false, false, false, false]);
  });

  it("make room when a client has left", async () => {
    const request = await start();
    const first = await request();
    const requests = [await request(), await request(), await request()];

    first.client.destroy();
    await expect.poll(first.isCut).toBe(true);
    requests.push(await request());

    expect(requests.map(({ isCut }) => isCut())).toEqual([false, false, false, false]);
  });

  it("do not include one that was read", async () => {
    const request = await start();
    const first = await request();
    const requests = [await request(), await request(), await request()];

    let length = 0;
    first.client.on("data", (chunk) => {
      length += chunk.length;
    });
    first.client.resume();
    await expect.poll(() => length).toBeGreaterThan(THIRD.length);
    requests.push(await request());

    expect(first.isCut()).toBe(false);
    expect(requests.map(({ isCut }) => isCut())).toEqual([false, false, false, false]);
  });
});
