import { Readable } from "node:stream";
import { Worker } from "node:worker_threads";
import { PorticoApp } from "portico";
import { type LiveClient, liveClient } from "portico/testing";
import { afterEach, describe, expect, it, vi } from "vitest";
import { blockThread } from "../../block-thread.ts";
import { upgrade } from "../../http/engine/connections/connected.ts";
import { rawConnection } from "../../http/raw-connection.ts";

let client: LiveClient | undefined;
afterEach(async () => {
  await client?.close();
  client = undefined;
});

it("responds with 503 and retry-after beyond maxInFlight, before the body is read, while health routes still respond", async () => {
  const release = Promise.withResolvers<void>();
  const entered: (() => void)[] = [];
  const app = new PorticoApp({ logger: false, load: { maxInFlight: 2, retryAfterSeconds: 7 } })
    .get("/slow", async () => {
      entered.shift()?.();
      await release.promise;
      return "done";
    })
    .post("/upload", async ({ request }) => (await request.bytes()).length)
    .socket("/chat", () => {});
  client = await liveClient(app);
  const both = Promise.all([1, 2].map(() => new Promise<void>((resolve) => entered.push(resolve))));
  const slow = [client.get("/slow"), client.get("/slow")];
  await both;

  const connection = await rawConnection(client.port);
  connection.socket.write("POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: 500000\r\n\r\nonly the first bytes");
  const refused = await connection.until("}");
  const [live, ready] = [await client.get("/livez"), await client.get("/readyz")];
  const socket = await client.socket("/chat").catch((error: unknown) => error);
  release.resolve();
  const answers = await Promise.all(slow);

  expect(refused).toMatch(/^HTTP\/1\.1 503 /);
  expect(refused).toMatch(/\r\nretry-after: 7\r\n/i);
  expect(refused).toMatch(/\r\nconnection: close\r\n/i);
  expect(refused).toContain('"code":"overloaded"');
  expect([live.status, ready.status]).toEqual([200, 503]);
  expect(socket).toMatchObject({ response: { status: 503 } });
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect((await client.post("/upload", { body: "xyz" })).json()).toBe(3);
  expect((await client.get("/readyz")).status).toBe(200);
});

it("counts a request once, however it ends", async () => {
  const [entered, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const app = new PorticoApp({ logger: false, load: { maxInFlight: 1 } })
    .get("/fine", () => "fine")
    .get("/broken", () => {
      throw new Error("no");
    })
    .get("/cycle", () => 1n)
    .get("/redirect", ({ response }) => response.redirect("/"))
    .get("/header", async ({ response }) => response.header("x", "\n").text(""))
    .get("/stream", ({ response }) =>
      response.stream(
        new Readable({
          read() {
            this.destroy(new Error("no"));
          },
        }),
      ),
    )
    .get("/slow", () => {
      entered.resolve();
      return release.promise;
    });
  client = await liveClient(app);

  for (const path of ["/broken", "/cycle", "/redirect", "/header", "/stream", "/nothing", "/%zz", "/livez"]) {
    await client.get(path);
    await client.post(path, { body: {} });
  }

  const alone = await client.get("/fine");
  const slow = client.get("/slow");
  await entered.promise;
  const beside = await client.get("/fine");
  release.resolve();
  await slow;

  expect([alone.status, beside.status]).toEqual([200, 503]);
});

it("responds with 503 while the event loop is blocked, except for health routes, and recovers", async () => {
  const app = new PorticoApp({ logger: false, load: { maxEventLoopDelayMs: 40 } }).get("/", () => "fine");
  client = await liveClient(app);
  const blocking = setInterval(() => {
    blockThread(100);
  }, 1);

  const refused = await until(503);
  const live = await client.get("/livez");
  clearInterval(blocking);
  const recovered = await until(200);

  expect(refused.headers["retry-after"]).toBe("1");
  expect(refused.json()).toMatchObject({ code: "overloaded" });
  expect(live.status).toBe(200);
  expect(recovered.json()).toBe("fine");

  async function until(status: number) {
    for (;;) {
      const answer = await (client as LiveClient).get("/");
      if (answer.status === status) return answer;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
});

it("accepts a request that waits for its turn for longer than a second, if maxWaitMs allows it", async () => {
  const app = new PorticoApp({ logger: false, load: PATIENT })
    .get("/accepted", () => "accepted")
    .get("/busy", () => {
      blockThread(400);
      return "done";
    });
  client = await liveClient(app);
  const { port } = client;
  const connections = await Promise.all(Array.from({ length: 6 }, () => rawConnection(port)));
  const send = (path: string): void => {
    for (const { socket } of connections) socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n`);
    for (const { socket } of connections) socket.write(path === "/busy" ? "Connection: close\r\n\r\n" : "\r\n");
  };
  send("/accepted");
  await Promise.all(connections.map((connection) => connection.until("accepted")));
  send("/busy");
  await Promise.all(connections.map(({ closed }) => closed));

  for (const { received } of connections) expect(received()).toContain("done");
});

describe.each([
  ["requests", "GET /busy HTTP/1.1\r\nHost: a\r\n\r\n", "done"],
  ["upgrades", upgrade("/busy"), "101 Switching Protocols"],
])("many %s that arrive in one round of the event loop", (_, text, expected) => {
  it("start in turns, so that rounds stay short", async () => {
    let round = 0;
    const startedIn: number[] = [];
    const app = new PorticoApp({ logger: false, load: PATIENT })
      .use(async (_ctx, next) => {
        for (let count = 0; count < 20; count++) await Promise.resolve();
        startedIn.push(round);
        blockThread(3);
        return next();
      })
      .get("/busy", () => "done")
      .socket("/busy", () => {});
    client = await liveClient(app);
    const { port } = client;
    const connections = await Promise.all(Array.from({ length: 20 }, () => rawConnection(port)));
    const send = async (request: string, response: string): Promise<void> => {
      for (const { socket } of connections) socket.write(request);
      await Promise.all(connections.map((connection) => connection.until(response)));
    };
    await send("GET /livez HTTP/1.1\r\nHost: a\r\n\r\n", "alive");
    const count = (): void => {
      round++;
      immediate = setImmediate(count);
    };
    let immediate = setImmediate(count);

    // All of them are readable in the next round.
    await send(text, expected);
    clearImmediate(immediate);
    for (const { socket } of connections) socket.destroy();

    const perRound = Map.groupBy(startedIn, (at) => at);
    expect(startedIn).toHaveLength(20);
    expect(Math.max(...[...perRound.values()].map((starts) => starts.length))).toBeLessThanOrEqual(2);
  });
});

/** Rejects no request, however busy the machine is. */
const PATIENT = { report: true };

it("accepts waiting connections faster than it works, so that they are told to come back", async () => {
  const isBlocked = new Int32Array(new SharedArrayBuffer(4));
  const areWaiting = new Int32Array(new SharedArrayBuffer(4));
  let worked = 0;
  const accepted: number[] = [];
  const app = new PorticoApp({ logger: false, load: PATIENT })
    .get("/block", () => {
      Atomics.store(isBlocked, 0, 1);
      Atomics.wait(areWaiting, 0, 0);
    })
    .get("/work", () => {
      worked++;
      blockThread(3);
    });
  client = await liveClient(app);
  app.engine.server.on("connection", () => accepted.push(worked));
  const clients = new Worker(
    `const { connect } = require("node:net");
    const { port, isBlocked, areWaiting } = require("node:worker_threads").workerData;
    const send = (path) => new Promise((sent) => {
      const socket = connect(port, "127.0.0.1", () => socket.write("GET " + path + " HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n", sent));
    });
    send("/block");
    const waiting = setInterval(async () => {
      if (Atomics.load(isBlocked, 0) === 0) return;
      clearInterval(waiting);
      await Promise.all(Array.from({ length: 40 }, () => send("/work")));
      Atomics.store(areWaiting, 0, 1);
      Atomics.notify(areWaiting, 0);
    }, 5);`,
    { eval: true, workerData: { port: client.port, isBlocked, areWaiting } },
  );
  try {
    await vi.waitUntil(() => worked === 40, 60_000);
  } finally {
    await clients.terminate();
  }

  // Node accepts one in each round of the event loop. Without rounds that only accept, it is as many as there are connections.
  expect(new Set(accepted).size).toBeLessThan(10);
});
