import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { TcpProxy } from "../../../lab/servers/tcp-proxy.ts";

let server: Server;
let proxy: TcpProxy;
/** The connections that reached the server, and the bytes that it received. */
let arrived: Socket[];
let received: string;

beforeEach(async () => {
  arrived = [];
  received = "";
  server = createServer((socket) => {
    arrived.push(socket);
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      received += chunk.toString();
      socket.write(chunk);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  proxy = await TcpProxy.start((server.address() as AddressInfo).port);
});

afterEach(async () => {
  await proxy.close();
  for (const socket of arrived) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
});

/** A client that has exchanged a message with the server. */
async function dial(): Promise<Socket> {
  const socket = connect({ port: proxy.port, host: "127.0.0.1", allowHalfOpen: true });
  await once(socket, "connect");
  expect(await echo(socket, "hello")).toBe("hello");
  return socket;
}

async function echo(socket: Socket, text: string): Promise<string> {
  socket.write(text);
  let back = "";
  while (back.length < text.length) back += String((await once(socket, "data"))[0]);
  return back;
}

it("forwards bytes and the end of a connection in both directions", async () => {
  const socket = await dial();
  socket.end();
  await once(socket, "end");
  expect(received).toBe("hello");
});

it("puts its own address into a URL", () => {
  expect(proxy.through("redis://127.0.0.1:1")).toBe(`redis://127.0.0.1:${proxy.port}`);
  expect(proxy.through("postgres://root@127.0.0.1:1/test")).toBe(`postgres://root@127.0.0.1:${proxy.port}/test`);
});

it("delays every chunk in both directions", async () => {
  const socket = await dial();
  proxy.shape({ delayMs: 60 });
  // Also after a pause of the process, this timer fires before the one of the way back is set.
  const sooner = sleep(100, "sooner");
  const late = echo(socket, "late");
  expect(await Promise.race([late, sooner])).toBe("sooner");
  expect(await late).toBe("late");
});

it("throttles a connection and loses nothing", async () => {
  const socket = await dial();
  proxy.shape({ bytesPerSecond: 1_000 });
  const text = "0123456789".repeat(20);
  // The last byte leaves after 200 ms, and the way back begins with the first slice.
  const sooner = sleep(120, "sooner");
  const late = echo(socket, text);
  expect(await Promise.race([late, sooner])).toBe("sooner");
  expect(await late).toBe(text);
});

it("drops bytes silently, and works for new connections after the silence", async () => {
  const [socket, other] = [await dial(), await dial()];
  const events: string[] = [];
  for (const name of ["data", "end", "error", "close"]) socket.on(name, () => events.push(name));
  proxy.silence();
  socket.write("lost");
  const accepted = once(server, "connection");
  const during = connect(proxy.port, "127.0.0.1");
  await accepted;
  during.write("lost too");
  const gone = once(arrived[0] as Socket, "close");
  proxy.endSilence();
  await gone;

  // Its messages would have arrived after those that were dropped.
  const fresh = await dial();
  expect(received).toBe("hello".repeat(3));
  expect(events).toEqual([]);
  for (const client of [socket, other, during, fresh]) client.destroy();
});

it("ends the direction to the client, and still forwards to the server", async () => {
  const socket = await dial();
  const ended = once(socket, "end");
  proxy.halfClose();
  await ended;
  const heard = once(arrived[0] as Socket, "data");
  socket.write("still here");
  await heard;
  expect(received).toBe("hellostill here");
  socket.destroy();
});

it("resets open connections and accepts new ones", async () => {
  const socket = await dial();
  const failed = once(socket, "error");
  const gone = once(arrived[0] as Socket, "close");
  proxy.reset();
  expect((await failed.catch((error: unknown) => [error]))[0]).toMatchObject({ code: "ECONNRESET" });
  await gone;
  (await dial()).destroy();
});

it("closes the connections of clients while the server is down", async () => {
  const target = await TcpProxy.start(1);
  const socket = connect(target.port, "127.0.0.1");
  socket.on("error", () => {});
  await once(socket, "close");
  expect(socket.bytesRead).toBe(0);
  await target.close();
});

it("garbles the bytes to one end, and keeps their number", async () => {
  const socket = await dial();
  proxy.garble("client");
  const back = await echo(socket, "wrong");
  proxy.garble("server");
  await echo(socket, "right");
  proxy.garble(null);

  expect(back).not.toBe("wrong");
  expect(received).toHaveLength("hello".length + "wrong".length + "right".length);
  expect(received).toContain("hellowrong");
  expect(received).not.toContain("right");
  expect(await echo(socket, "again")).toBe("again");
});

it("refuses connections until that ends", async () => {
  const socket = await dial();
  socket.on("error", () => {});
  proxy.refuse();
  if (!socket.closed) await new Promise((resolve) => socket.once("close", resolve));
  const refused = connect({ port: proxy.port, host: "127.0.0.1" });
  refused.on("error", () => {});
  await new Promise((resolve) => refused.once("close", resolve));
  expect(arrived).toHaveLength(1);

  proxy.endRefusal();
  await dial();
});

it("closes connections above a limit", async () => {
  await dial();
  proxy.limit(1);
  const second = connect({ port: proxy.port, host: "127.0.0.1" });
  second.on("error", () => {});
  await new Promise((resolve) => second.once("close", resolve));
  expect(arrived).toHaveLength(1);
});
