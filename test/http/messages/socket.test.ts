import { setTimeout as sleep } from "node:timers/promises";
import { currentContext, type Gate, HttpException, Router, WebSocketContext } from "portico";
import type { SocketRefused } from "portico/testing";
import { logCatcher } from "portico/testing";
import { expect, it } from "vitest";
import { z } from "zod";
import { rawConnection } from "../raw-connection.ts";
import { startApp as start } from "../start-app.ts";

const bearer: Gate<true> = {
  required: true,
  scopes: [],
  check(ctx) {
    if (ctx.request.headers["authorization"] === undefined)
      throw new HttpException(401, "who are you?", { code: "WHO" });
  },
};
const refusal = (opening: Promise<unknown>): Promise<SocketRefused> =>
  opening.then(
    () => expect.fail("the socket was opened"),
    (error: unknown) => error as SocketRefused,
  );

it("echoes text and bytes, with the path, the query and the context of its upgrade", async () => {
  const { socket: open } = await start((app) =>
    app.socket(
      "/rooms/:room",
      { params: { ws: WebSocketContext } },
      async ({ socket, path, query, ctx, ws, request }) => {
        socket.send(
          JSON.stringify({
            room: path.room,
            q: query["q"],
            agent: request.headers["user-agent"],
            same: ctx === ws && currentContext() === ctx,
          }),
        );
        for await (const message of socket)
          socket.send(typeof message === "string" ? `text ${message}` : `bytes ${message.length}`);
      },
    ),
  );

  const socket = await open("/rooms/blue?q=1", { headers: { "user-agent": "tester" } });
  socket.send("hello");
  socket.send(new Uint8Array(3));

  expect(JSON.parse(await socket.next())).toEqual({ room: "blue", q: "1", agent: "tester", same: true });
  expect([await socket.next(), await socket.next()]).toEqual(["text hello", "bytes 3"]);
});

it("sends texts of every length as they are, bytes and pings in between", async () => {
  const texts = [0, 1, 125, 126, 127, 65_535, 65_536, 70_000].map((length) =>
    "é".repeat(length >> 1).padEnd(length, "x"),
  );
  const { socket: open } = await start((app) =>
    app.socket("/ws", { pingSeconds: 0.01 }, async ({ socket }) => {
      for (const text of texts) {
        socket.send(text);
        socket.send(new Uint8Array([1, 2, 3]));
      }
      for await (const message of socket) socket.send(message);
    }),
  );

  const socket = await open("/ws");

  for (const text of texts) {
    expect(await socket.next()).toBe(text);
    expect(await socket.next()).toBe("\u0001\u0002\u0003");
  }
  socket.send("still here");
  expect(await socket.next()).toBe("still here");
});

it("is rejected by its gate with a readable status before the upgrade, or accepted", async () => {
  const { socket: open } = await start((app) => app.socket("/ws", { auth: bearer }, ({ socket }) => socket.send("in")));

  const refused = await refusal(open("/ws"));
  const socket = await open("/ws", { headers: { authorization: "Bearer x" } });

  expect(refused.response.status).toBe(401);
  expect(refused.response.headers["content-type"]).toContain("application/problem+json");
  expect(refused.response.json()).toMatchObject({ detail: "who are you?", code: "who" });
  expect(await socket.next()).toBe("in");
});

it("runs through the middleware of app, router and route, which ends when the socket does", async () => {
  const order: string[] = [];
  const note = (name: string) => async (_ctx: unknown, next: () => Promise<void>) => {
    order.push(`${name} in`);
    await next();
    order.push(`${name} out`);
  };
  const router = new Router({ prefix: "/live", middleware: [note("router")] });
  router.socket("/ws", { middleware: [note("route")] }, async ({ socket }) => {
    for await (const message of socket) order.push(String(message));
  });
  const { socket: open } = await start((app) => app.use(note("app")).mount("/api", router));

  const socket = await open("/api/live/ws");
  socket.send("talk");
  await expect.poll(() => order).toContain("talk");
  socket.close();

  await expect
    .poll(() => order)
    .toEqual(["app in", "router in", "route in", "talk", "route out", "router out", "app out"]);
});

it("is rejected by a middleware, with the response of an exception handler", async () => {
  class Closed extends Error {}
  const { socket: open } = await start((app) =>
    app
      .use(() => {
        throw new Closed("at night");
      })
      .socket("/ws", () => {})
      .addExceptionHandler(Closed, (_request, response, exc) => response.status(423).json({ closed: exc.message })),
  );

  const { response } = await refusal(open("/ws"));

  expect([response.status, response.json()]).toEqual([423, { closed: "at night" }]);
});

it("has no socket yet in its middleware, which rejects by throwing", async () => {
  const seen: unknown[] = [];
  const { socket: open } = await start((app) =>
    app
      .use(async (ctx, next) => {
        try {
          seen.push((ctx as WebSocketContext).socket);
        } catch (error) {
          seen.push((error as Error).message);
        }
        await next();
      })
      .socket("/chat", ({ socket, ctx }) => {
        seen.push(ctx.socket === socket);
      }),
  );

  await (await open("/chat")).closed;

  expect(seen).toEqual(["the socket is not open yet: to reject it, throw an HttpException", true]);
});

it("checks its path by a schema, with 422 before the upgrade", async () => {
  const { socket: open } = await start((app) =>
    app.socket("/rooms/:room", { path: z.object({ room: z.coerce.number() }) }, ({ socket, path, request }) => {
      socket.send(JSON.stringify([path.room, request.params.room]));
    }),
  );

  expect(JSON.parse(await (await open("/rooms/7")).next())).toEqual([7, 7]);
  const { response } = await refusal(open("/rooms/blue"));
  expect([response.status, response.json()]).toEqual([
    422,
    expect.objectContaining({ errors: [expect.objectContaining({ in: "path", path: ["room"] })] }),
  ]);
});

it("responds with 404 without a route, 426 to a plain request, 422 to an invalid query", async () => {
  const { socket: open, get } = await start((app) =>
    app.socket("/ws", { query: z.object({ n: z.coerce.number() }) }, () => {}),
  );

  const [missing, unfit, plain] = [await refusal(open("/nothing")), await refusal(open("/ws?n=x")), await get("/ws")];

  expect([missing.response.status, unfit.response.status]).toEqual([404, 422]);
  expect([plain.status, plain.headers["upgrade"]]).toEqual([426, "websocket"]);
});

it("shares its path with a GET route", async () => {
  const { socket: open, get } = await start((app) =>
    app.get("/both", () => "page").socket("/both", ({ socket }) => socket.send("socket")),
  );

  const [page, socket] = [await get("/both"), await open("/both")];

  expect(page.json()).toBe("page");
  expect(await socket.next()).toBe("socket");
});

it("agrees on the first subprotocol of its list that the client offers", async () => {
  const { socket: open } = await start((app) =>
    app.socket("/ws", { protocols: ["v2", "v1"] }, ({ socket }) => socket.send(socket.protocol)),
  );

  const socket = await open("/ws", { protocols: ["v1", "v2"] });

  expect([socket.protocol, await socket.next()]).toEqual(["v2", "v2"]);
});

it("closes a message over maxMessage with 1009", async () => {
  const { socket: open } = await start((app) =>
    app.socket("/ws", { maxMessage: "1kb" }, async ({ socket }) => {
      for await (const message of socket) socket.send(String(message.length));
    }),
  );
  const socket = await open("/ws");

  socket.send("a".repeat(1024));
  const fits = await socket.next();
  socket.send("a".repeat(1025));

  expect(fits).toBe("1024");
  expect((await socket.closed).code).toBe(1009);
});

it("slows down a client that sends faster than the handler reads", async () => {
  const { socket: open } = await start((app) =>
    app.socket("/ws", async ({ socket }) => {
      await sleep(300);
      let read = 0;
      for await (const message of socket) {
        read += message.length;
        if (read === 64 * 65_536) socket.send("all");
      }
    }),
  );
  const socket = await open("/ws");

  for (let sent = 0; sent < 64; sent++) socket.send("a".repeat(65_536));

  expect(await socket.next()).toBe("all");
});

it("drops a client that does not read", async () => {
  let sent = 0;
  let isOver = false;
  const { port } = await start((app) =>
    app.socket("/ws", { maxBuffered: "256kb" }, async ({ socket, ctx }) => {
      for (; !ctx.signal.aborted && sent < 10_000; sent++) {
        socket.send("a".repeat(65_536));
        await sleep(0);
      }
      isOver = true;
    }),
  );
  const raw = await rawConnection(port);
  raw.socket.write(
    "GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
  );
  await raw.until("101 Switching");

  raw.socket.pause();
  await expect.poll(() => isOver).toBe(true);

  expect(sent).toBeGreaterThan(4);
  expect(sent).toBeLessThan(10_000);
});

it("disconnects a client that no longer responds to pings", async () => {
  let isOpen = false;
  const { port } = await start((app) =>
    app.socket("/ws", { pingSeconds: 0.05 }, async ({ ctx }) => {
      isOpen = true;
      await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
      isOpen = false;
    }),
  );
  const raw = await rawConnection(port);
  raw.socket.write(
    "GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
  );
  await expect.poll(() => isOpen).toBe(true);

  await raw.closed;

  await expect.poll(() => isOpen).toBe(false);
});

it("closes with 1011 when its handler fails, and logs why", async () => {
  const log = logCatcher();
  const { socket: open } = await start(
    (app) =>
      app.socket("/ws", async ({ socket }) => {
        for await (const _ of socket) throw new Error("cannot");
      }),
    { logger: log },
  );
  const socket = await open("/ws");

  socket.send("go");

  expect(await socket.closed).toEqual({ code: 1011, reason: "internal error" });
  await expect.poll(() => log.lines.filter(({ level }) => level === "error").map(({ msg }) => msg)).toEqual(["cannot"]);
});

it("rejects a malformed handshake with 400 or 405 and keeps running", async () => {
  const { port, socket: open } = await start((app) => app.socket("/ws", ({ socket }) => socket.send("well")));
  const raw = await rawConnection(port);

  raw.socket.write(
    "GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\r\n",
  );
  await raw.closed;

  expect(raw.received()).toMatch(/^HTTP\/1\.1 400 /);
  expect(await (await open("/ws")).next()).toBe("well");
});

it("ignores an upgrade to something else on an ordinary route", async () => {
  const { port } = await start((app) => app.get("/", () => "page").socket("/ws", () => {}));
  const raw = await rawConnection(port);

  raw.socket.write(
    "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: \r\n\r\n",
  );
  await raw.until('"page"');
  expect(raw.received()).toMatch(/^HTTP\/1\.1 200 /);

  // It is a connection like any other, and takes the next request.
  raw.socket.write("GET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  await raw.closed;
  expect(raw.received()).toContain("HTTP/1.1 404 ");
});
