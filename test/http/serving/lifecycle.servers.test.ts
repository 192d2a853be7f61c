import { fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { ConfigurationError, PorticoApp } from "portico";
import { liveClient } from "portico/testing";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { rawConnection } from "../raw-connection.ts";

describe("an application", () => {
  it("listens on a free port of this machine and says where", async () => {
    const app = new PorticoApp({ logger: false }).get("/", () => "here");

    const { port, host, url } = await app.listen({ port: 0 });
    const answer = await fetch(url);
    await app.close();

    expect([host, url]).toEqual(["127.0.0.1", `http://127.0.0.1:${port}`]);
    expect(await answer.json()).toBe("here");
  });

  it("rejects when its port is taken", async () => {
    const first = new PorticoApp({ logger: false });
    const { port } = await first.listen({ port: 0 });
    const second = new PorticoApp({ logger: false });

    await expect(second.listen({ port })).rejects.toThrow(
      `PorticoApp.listen.port is ${port}, which is already in use on 127.0.0.1`,
    );

    await first.close();
    await second.close();
  });

  it.each([
    [{ port: Number.NaN }, "PorticoApp.listen.port must be an integer from 0 to 65535, received NaN"],
    [{ port: 65_536 }, "PorticoApp.listen.port must be an integer from 0 to 65535, received 65536"],
    [{ port: -1 }, "PorticoApp.listen.port must be an integer from 0 to 65535, received -1"],
    [{ host: "127.0.0.1" }, "PorticoApp.listen.port must be an integer from 0 to 65535, received undefined"],
    [{ prot: 3000 }, 'PorticoApp.listen: unknown option "prot". Did you mean "port"?'],
    [{ port: 0, host: "192.0.2.1" }, "PorticoApp.listen.host is 192.0.2.1, which is not an address of this machine"],
    [
      { port: 0, host: "nowhere.invalid" },
      "PorticoApp.listen.host is nowhere.invalid, which can't be resolved to an address",
    ],
  ])("names what is wrong with %j", async (options, message) => {
    const app = new PorticoApp({ logger: false });

    const failure: unknown = await app.listen(options as { port: number }).catch((error: unknown) => error);

    expect(failure).toBeInstanceOf(ConfigurationError);
    expect(failure).toHaveProperty("message", message);
    await app.close();
  });

  it("runs start hooks before the first request and close hooks after the last, in reverse", async () => {
    const order: string[] = [];
    const app = new PorticoApp({ logger: false })
      .onStart(() => order.push("start 1"))
      .onStart(async () => {
        await sleep(5);
        order.push("start 2");
      })
      .onClose(() => order.push("close 1"))
      .onClose(() => order.push("close 2"))
      .get("/", () => order.push("request"));

    await app.inject("/");
    await app.close();
    await app.close();

    expect(order).toEqual(["start 1", "start 2", "request", "close 2", "close 1"]);
  });

  it("does not start when a start hook throws", async () => {
    const app = new PorticoApp({ logger: false }).onStart(() => {
      throw new Error("no database");
    });

    await expect(app.listen({ port: 0 })).rejects.toThrow("no database");
    await expect(app.inject("/")).rejects.toThrow("no database");
  });

  it("closes its sockets with 1001 on shutdown, and cuts those that do not respond at the deadline", async () => {
    const app = new PorticoApp({ logger: false, shutdown: { deadlineSeconds: 0.3 } }).socket(
      "/ws",
      async ({ socket }) => {
        for await (const _ of socket);
      },
    );
    const client = await liveClient(app);
    const polite = await client.socket("/ws");
    const deaf = await rawConnection(client.port);
    deaf.socket.write(
      "GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    );
    await deaf.until("101 Switching");
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());

    const closing = client.close();
    expect((await polite.closed).code).toBe(1001);
    expect(deaf.socket.closed).toBe(false);
    vi.advanceTimersByTime(300);
    await closing;
    await deaf.closed;
  });

  it("does not wait for connections that have not sent anything", async () => {
    const app = new PorticoApp({ logger: false, shutdown: { deadlineSeconds: 3600 } }).get("/", () => "here");
    const client = await liveClient(app);
    const unused = await rawConnection(client.port);
    // So that the server has accepted both.
    await (await fetch(client.url)).text();

    await client.close();
    await unused.closed;

    expect(unused.received()).toBe("");
  });

  it("cuts a request that does not end at the deadline", async () => {
    const entered = Promise.withResolvers<void>();
    const app = new PorticoApp({ logger: false, shutdown: { deadlineSeconds: 0.2 } }).get("/", () => {
      entered.resolve();
      return new Promise(() => {});
    });
    const client = await liveClient(app);
    const raw = await rawConnection(client.port);
    raw.socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await entered.promise;

    await client.close();
    await raw.closed;

    expect(raw.received()).toBe("");
  });
});

describe("SIGTERM", () => {
  const run = async (
    socketSeconds = 0.4,
  ): Promise<{
    port: number;
    url: string;
    child: ReturnType<typeof fork>;
    output: () => string;
  }> => {
    const child = fork(new URL("./fixtures/draining-app.ts", import.meta.url), [String(socketSeconds)], {
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      execArgv: [],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream?.on("data", (chunk: Buffer) => (output += chunk.toString()));
    const [port] = (await once(child, "message")) as [number];
    return { port, url: `http://127.0.0.1:${port}`, child, output: () => output };
  };

  it("first makes readiness return 503 while requests are still served, then exits with code 0", async () => {
    const { url, child, output } = await run();
    const before = await fetch(`${url}/readyz`);
    const slow = fetch(`${url}/slow`);
    await sleep(100);

    child.kill("SIGTERM");
    await expect.poll(async () => (await fetch(`${url}/readyz`)).status).toBe(503);
    const during = await fetch(`${url}/`);
    const [code] = (await once(child, "exit")) as [number];

    expect(before.status).toBe(200);
    expect([during.status, during.headers.get("connection")]).toEqual([200, "close"]);
    expect(await (await slow).json()).toBe("slow");
    expect(code).toBe(0);
    expect(output()).toContain("the last request was answered");
  });

  it("closes sockets with 1001", async () => {
    const { port, child } = await run();
    const { openTestSocket } = await import("../../../src/testing/test-socket.ts");
    const sockets = await Promise.all(Array.from({ length: 20 }, () => openTestSocket(`ws://127.0.0.1:${port}/ws`)));
    const ends = sockets.map(({ closed }) => closed);

    child.kill("SIGTERM");
    const closed = await Promise.all(ends);
    await once(child, "exit");

    expect(new Set(closed.map(({ code }) => code))).toEqual(new Set([1001]));
  });

  it("does not wait for the turn of sockets whose clients have left", async () => {
    const { port, url, child } = await run(3_600);
    const { openTestSocket } = await import("../../../src/testing/test-socket.ts");
    const sockets = await Promise.all(Array.from({ length: 5 }, () => openTestSocket(`ws://127.0.0.1:${port}/ws`)));
    const exited = once(child, "exit");

    child.kill("SIGTERM");
    await expect.poll(() => fetch(url).catch(() => "refused"), { timeout: 5_000 }).toBe("refused");
    for (const socket of sockets) socket.close();

    expect(await exited).toEqual([0, null]);
  });
});
