import { once } from "node:events";
import { Agent, request, ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { PorticoApp } from "portico";
import { field, Graph, schema, subscription, t } from "portico/graphql";
import { afterEach, describe, expect, it, vi } from "vitest";
import { rawConnection } from "../raw-connection.ts";
import { startApp as start } from "../start-app.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

const slowBody = "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 4\r\n\r\n[1";
const echo = (app: PorticoApp): PorticoApp =>
  app.post("/echo", async ({ request }) => request.json()).get("/other", () => "other");

describe("a body that arrives slowly", () => {
  it("is not in flight: complete requests are served meanwhile", async () => {
    const { port, get } = await start(echo, { load: { maxInFlight: 2 } });
    const slow = await Promise.all(Array.from({ length: 5 }, () => rawConnection(port)));
    for (const { socket } of slow) socket.write(slowBody);
    await sleep(50);

    const other = await get("/other");
    for (const { socket } of slow) socket.write("2]");
    const answers = await Promise.all(slow.map((connection) => connection.until("[12]")));

    expect(other.status).toBe(200);
    expect(answers.every((answer) => answer.startsWith("HTTP/1.1 200 "))).toBe(true);
  });

  it("is refused when its address sends more than maxBodiesPerAddress at once, and taken again when one has ended", async () => {
    const { port, post } = await start(echo, { load: { maxBodiesPerAddress: 2 } });
    const [first, second] = [await rawConnection(port), await rawConnection(port)];
    for (const { socket } of [first, second]) socket.write(slowBody);
    await sleep(50);

    const third = await rawConnection(port);
    third.socket.write(slowBody);
    const refused = await third.until("\r\n\r\n");
    // A body that arrives together with its request keeps nothing waiting.
    expect((await post("/echo", { body: [1] })).status).toBe(200);
    first.socket.destroy();
    const isTaken = async (): Promise<boolean> => {
      const fourth = await rawConnection(port);
      fourth.socket.write(slowBody);
      await sleep(20);
      fourth.socket.write("2]");
      return (await fourth.until("\r\n\r\n")).startsWith("HTTP/1.1 200");
    };
    await expect.poll(isTaken).toBe(true);
    second.socket.write("2]");

    expect(refused).toMatch(/^HTTP\/1\.1 429 /);
    expect(refused).toContain("retry-after: 1");
    expect(await second.until("[12]")).toMatch(/^HTTP\/1\.1 200 /);
  });

  it("is no longer counted for its address after its response, though its end was not read", async () => {
    const { port, post } = await start(echo, { maxBody: 10, load: { maxBodiesPerAddress: 2 } });

    for (let times = 0; times < 2; times++) {
      const connection = await rawConnection(port);
      connection.socket.write(
        `POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n14\r\n${"a".repeat(20)}\r\n`,
      );
      await connection.until("HTTP/1.1 413");
      connection.socket.write("5\r\nabcde\r\n0\r\n\r\n");
      await sleep(20);
      connection.socket.destroy();
    }

    await expect.poll(async () => (await post("/echo", { body: [1] })).status).toBe(200);
  });

  it("has requestSeconds to arrive, and its handler has handlerSeconds after that", async () => {
    const { port } = await start(echo, { timeouts: { headersSeconds: 1, requestSeconds: 1.5, handlerSeconds: 0.4 } });
    const [late, never] = [await rawConnection(port), await rawConnection(port)];
    for (const { socket } of [late, never]) socket.write(slowBody);

    await sleep(700);
    late.socket.write("2]");
    await never.closed;

    expect(await late.until("[12]")).toMatch(/^HTTP\/1\.1 200 /);
    expect(never.received()).toMatch(/^HTTP\/1\.1 408 /);
    expect(never.received()).toContain('"code":"request_timeout"');
  });

  it("ends with 408 also where another server reads the requests, and sets no limit", async () => {
    const app = echo(
      new PorticoApp({ logger: false, timeouts: { headersSeconds: 0.2, requestSeconds: 0.6, handlerSeconds: 0.3 } }),
    );
    const { createServer } = await import("node:http");
    const server = createServer({ requestTimeout: 0 }, app.handler).listen(0, "127.0.0.1");
    await once(server, "listening");
    const connection = await rawConnection((server.address() as { port: number }).port);

    connection.socket.write(slowBody);
    const answer = await connection.until("request_timeout");
    connection.socket.destroy();
    server.close();
    await app.close();

    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  });
});

describe("pipelined requests", () => {
  it("run one after another, with responses in order", async () => {
    let running = 0;
    let most = 0;
    const { port } = await start((app) =>
      app.get("/:n", async ({ path }) => {
        most = Math.max(most, ++running);
        await sleep(path.n === "1" ? 30 : 1);
        running--;
        return `response ${path.n}`;
      }),
    );
    const connection = await rawConnection(port);

    connection.socket.write([1, 2, 3].map((n) => `GET /${n} HTTP/1.1\r\nHost: x\r\n\r\n`).join(""));
    await connection.until("response 3");

    expect(connection.received().match(/response \d/g)).toEqual(["response 1", "response 2", "response 3"]);
    expect(most).toBe(1);
  });

  it("are dropped beyond 64 that wait on one connection, without a handler", async () => {
    let handled = 0;
    const { port, get } = await start((app) =>
      app.get("/", async () => {
        handled++;
        await sleep(1);
        return "done";
      }),
    );
    const connection = await rawConnection(port);

    connection.socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n".repeat(300));
    await connection.closed;

    expect(handled).toBe(65);
    expect(connection.received().match(/HTTP\/1\.1 200 /g)).toHaveLength(65);
    expect((await get("/")).status).toBe(200);
  });
});

/** Makes the time limits of responses 200 ms long, and gives those that were asked for. */
function shortenTimeouts(): number[] {
  const asked: number[] = [];
  const original = Reflect.get(ServerResponse.prototype, "setTimeout") as (ms: number, callback?: () => void) => never;
  vi.spyOn(ServerResponse.prototype, "setTimeout").mockImplementation(function (this: ServerResponse, ms, callback) {
    asked.push(ms);
    return original.call(this, 200, callback as () => void);
  });
  return asked;
}

describe("a response that is not read", () => {
  const MEGABYTE = "a".repeat(1024 ** 2);

  it("is cut off when nothing of it could be sent for 30 s", async () => {
    const asked = shortenTimeouts();
    const cut = Promise.withResolvers<void>();
    const { port } = await start((app) => {
      app.engine.server.on("connection", (socket) => socket.once("close", () => cut.resolve()));
      app.get("/", ({ response }) => response.text(MEGABYTE.repeat(16)));
    });
    const connection = await rawConnection(port);

    connection.socket.pause();
    connection.socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await cut.promise;
    connection.socket.resume();
    await connection.closed;

    expect(connection.received().length).toBeLessThan(16 * 1024 ** 2);
    expect(asked).toEqual([30_000]);
  });

  it("is not cut off while its client reads slowly, or its stream has nothing to send", async () => {
    shortenTimeouts();
    const { get } = await start((app) =>
      app.get("/", ({ response }) =>
        response.stream(
          (async function* () {
            yield "first, ";
            await sleep(700);
            yield "last";
          })(),
        ),
      ),
    );

    expect((await get("/")).text()).toBe("first, last");
  });

  it("makes room for others: beyond 128 MB in total, the oldest are cut off", async () => {
    const { port } = await start((app) => app.get("/", ({ response }) => response.text(MEGABYTE.repeat(32))));
    const sockets = Array.from({ length: 6 }, () =>
      connect(port, "127.0.0.1")
        .on("error", () => {})
        .pause(),
    );
    for (const socket of sockets) {
      socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
      await sleep(100);
    }

    const lengths = await Promise.all(
      sockets.map(async (socket) => {
        let length = 0;
        const all = Promise.withResolvers<void>();
        socket.on("close", all.resolve).on("data", (chunk) => {
          length += chunk.length;
          if (length > 32 * 1024 ** 2) all.resolve();
        });
        socket.resume();
        await all.promise;
        socket.destroy();
        return length;
      }),
    );
    const isComplete = lengths.map((length) => length > 32 * 1024 ** 2);

    expect(isComplete).toEqual([false, false, true, true, true, true]);
  });

  it("does not give way to those of an address that has more of them unread", async () => {
    const { port } = await start((app) => app.get("/", ({ response }) => response.text(MEGABYTE.repeat(32))));
    const open = (localAddress: string): Socket => {
      const socket = connect({ port, host: "127.0.0.1", localAddress });
      socket.on("error", () => {}).pause();
      socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
      return socket;
    };

    const first = open("127.0.0.2");
    await sleep(100);
    const others: Socket[] = [];
    for (let count = 0; count < 5; count++) {
      others.push(open("127.0.0.1"));
      await sleep(100);
    }
    let length = 0;
    for await (const chunk of first) {
      length += (chunk as Buffer).length;
      if (length > 32 * 1024 ** 2) break;
    }
    for (const socket of others) socket.destroy();

    expect(length).toBeGreaterThan(32 * 1024 ** 2);
  });
});

describe("the end of the process", () => {
  it("does not wait for connections whose event streams have ended", async () => {
    const graph = new Graph(
      schema({
        query: { a: field(t.int)(() => 1) },
        subscription: {
          forever: subscription(t.int)(async function* ({ ctx }) {
            yield 1;
            await once(ctx.signal, "abort");
          }),
        },
      }),
    );
    const client = await start((app) => graph.mount(app), { shutdown: { deadlineSeconds: 3_600, socketSeconds: 0 } });
    const { port } = client;
    const agent = new Agent({ keepAlive: true });
    const body = JSON.stringify({ query: "subscription { forever }" });
    const headers = { accept: "text/event-stream", "content-type": "application/json" };
    const sent = request({ port, host: "127.0.0.1", path: "/graphql", method: "POST", agent, headers }).end(body);
    const [response] = await once(sent, "response");
    response.resume();
    await once(response, "readable").catch(() => {});

    await client.close();

    expect(response.destroyed || response.complete).toBe(true);
    agent.destroy();
  });
});
