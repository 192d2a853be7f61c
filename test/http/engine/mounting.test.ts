import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import Fastify, { type FastifyInstance } from "fastify";
import { currentContext, Depend, NotFound, PorticoApp, type PorticoAppOptions } from "portico";
import { logCatcher } from "portico/testing";
import { afterEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { z } from "zod";

const bookshop = (options: PorticoAppOptions = {}): PorticoApp =>
  new PorticoApp({ logger: false, ...options })
    .use(async (ctx, next) => {
      await next();
      if (ctx.kind === "http") ctx.response.header("x-portico", "1");
    })
    .get("/books/:id", ({ path, request }) => ({ id: path.id, url: request.url.replace(/:\d+/, "") }))
    .post("/books", { body: z.object({ title: z.string() }), params: { n: Depend(async () => 1) } }, ({ body, n }) => [
      body,
      n,
    ])
    .get("/missing", () => {
      throw new NotFound("No such book");
    })
    .socket("/chat", async ({ socket, query, ctx }) => {
      socket.send(`hello ${String(query["who"])} ${currentContext() === ctx}`);
      for await (const message of socket) socket.send(message);
    });

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function listen(listener: RequestListener, app?: PorticoApp): Promise<{ url: string; server: Server }> {
  const server = createServer(listener);
  if (app !== undefined) server.on("upgrade", app.upgradeHandler);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  ends.push(async () => {
    server.closeAllConnections();
    server.close();
    await app?.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}
async function listenFastify(fastify: FastifyInstance): Promise<string> {
  ends.push(() => fastify.close());
  return fastify.listen({ port: 0, host: "127.0.0.1" });
}
const json = (method: string, body: unknown): RequestInit => ({
  method,
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});
/** Says "ping" on a socket; gives what came back, or the status that refused it. */
async function talk(url: string, headers: Record<string, string> = {}): Promise<readonly string[] | number> {
  const socket = new WebSocket(url.replace("http", "ws"), { headers });
  return new Promise((resolve, reject) => {
    const heard: string[] = [];
    socket.on("open", () => socket.send("ping"));
    socket.on("message", (data) => {
      heard.push((data as Buffer).toString());
      if (heard.length === 2) socket.close();
    });
    socket.on("close", () => resolve(heard));
    socket.on("unexpected-response", (_request, answer) => {
      resolve(answer.statusCode ?? 0);
      answer.resume();
    });
    socket.on("error", reject);
  });
}

describe("plugin() in an existing Fastify application", () => {
  async function mounted(app = bookshop()): Promise<string> {
    const fastify = Fastify();
    fastify.post("/own", (request) => ({ own: request.body }));
    fastify.post("/api/beside", (request) => ({ beside: request.body }));
    fastify.get("/fails", async () => {
      throw new Error("of the host");
    });
    await fastify.register(app.plugin(), { prefix: "/api" });
    return listenFastify(fastify);
  }

  it("serves the routes below the prefix, with their middleware, schemas and dependencies", async () => {
    const url = await mounted();

    const got = await fetch(`${url}/api/books/7?x=1`);
    const posted = await fetch(`${url}/api/books`, json("POST", { title: "Emma", extra: 1 }));
    const refused = await fetch(`${url}/api/books`, json("POST", { title: 1 }));

    expect(await got.json()).toEqual({ id: "7", url: "http://127.0.0.1/api/books/7?x=1" });
    expect(got.headers.get("x-portico")).toBe("1");
    expect(await posted.json()).toEqual([{ title: "Emma" }, 1]);
    expect([refused.status, refused.headers.get("content-type")]).toEqual([
      422,
      "application/problem+json; charset=utf-8",
    ]);
  });

  it("leaves the host's own routes, body parsers, errors and 404 alone", async () => {
    const url = await mounted();

    const own = await fetch(`${url}/own`, json("POST", { a: 1 }));
    const beside = await fetch(`${url}/api/beside`, json("POST", { b: 2 }));
    const broken = await fetch(`${url}/own`, { ...json("POST", null), body: "{" });
    const fails = await fetch(`${url}/fails`);
    const nothing = await fetch(`${url}/api/nothing`);

    expect([await own.json(), await beside.json()]).toEqual([{ own: { a: 1 } }, { beside: { b: 2 } }]);
    expect(own.headers.get("x-portico")).toBe(null);
    expect([broken.status, await broken.json()]).toEqual([400, expect.objectContaining({ statusCode: 400 })]);
    expect([fails.status, await fails.json()]).toEqual([500, expect.objectContaining({ message: "of the host" })]);
    expect([nothing.status, await nothing.json()]).toEqual([404, expect.objectContaining({ statusCode: 404 })]);
  });

  it("shares the server with another application that has sockets", async () => {
    const fastify = Fastify();
    await fastify.register(bookshop().plugin(), { prefix: "/one" });
    await fastify.register(bookshop().plugin(), { prefix: "/two" });
    const url = await listenFastify(fastify);

    expect(await talk(`${url}/one/chat?who=ann`)).toEqual(["hello ann true", "ping"]);
    expect(await talk(`${url}/two/chat?who=bob`)).toEqual(["hello bob true", "ping"]);
    expect(await talk(`${url}/nothing`)).toBe(404);
  });

  it("is wrapped by the hooks of the host", async () => {
    const fastify = Fastify();
    fastify.addHook("onSend", async (_request, reply) => void reply.header("x-host", "1"));
    await fastify.register(bookshop().plugin());

    const answer = await fastify.inject("/missing");
    await fastify.close();

    expect([answer.statusCode, answer.headers["x-host"]]).toEqual([404, "1"]);
    expect(answer.json()).toMatchObject({ detail: "No such book" });
  });

  it("opens sockets through the host's server, and rejects unknown paths", async () => {
    const url = await mounted();

    expect(await talk(`${url}/api/chat?who=ann`)).toEqual(["hello ann true", "ping"]);
    expect(await talk(`${url}/api/chat`, { origin: "https://evil.example" })).toBe(403);
    expect(await talk(`${url}/api/nothing`)).toBe(404);
  });

  it("starts and ends with the host: its hooks run, its sockets are closed", async () => {
    const steps: string[] = [];
    const app = bookshop()
      .onStart(() => void steps.push("start"))
      .onClose(() => void steps.push("close"));
    const fastify = Fastify();
    await fastify.register(app.plugin(), { prefix: "/api" });
    const url = await fastify.listen({ port: 0, host: "127.0.0.1" });
    const socket = new WebSocket(`${url.replace("http", "ws")}/api/chat`);
    await once(socket, "message");

    const closed = once(socket, "close");
    await fastify.close();
    const [code] = (await closed) as [number];

    expect(code).toBe(1001);
    expect(steps).toEqual(["start", "close"]);
  });

  it("may be there twice: two applications below two prefixes", async () => {
    const fastify = Fastify();
    await fastify.register(bookshop().plugin(), { prefix: "/a" });
    await fastify.register(new PorticoApp({ logger: false }).get("/who", () => "b").plugin(), { prefix: "/b" });

    const answers = [await fastify.inject("/a/books/1"), await fastify.inject("/b/who")];
    await fastify.close();

    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200]);
  });
});

describe("handler in http.createServer", () => {
  it("serves routes, 404, 405 and health like a standalone server", async () => {
    const app = bookshop();
    const { url } = await listen(app.handler, app);

    const answers = await Promise.all([
      fetch(`${url}/books/7`),
      fetch(`${url}/nothing`),
      fetch(`${url}/books/7`, { method: "DELETE" }),
      fetch(`${url}/livez`),
    ]);

    expect(answers.map(({ status }) => status)).toEqual([200, 404, 405, 200]);
    expect(answers[2]?.headers.get("allow")).toBe("GET, HEAD");
  });

  it("opens sockets by upgradeHandler", async () => {
    const app = bookshop();
    const { url } = await listen(app.handler, app);

    expect(await talk(`${url}/chat?who=bob`)).toEqual(["hello bob true", "ping"]);
    expect(await talk(`${url}/nothing`)).toBe(404);
  });

  it("closes the connections of an application that fails to start, sockets too, and the log says why", async () => {
    const log = logCatcher();
    const app = bookshop({ logger: log }).onStart(() => {
      throw new Error("no database");
    });
    const { url } = await listen(app.handler, app);

    await expect(fetch(`${url}/books/7`)).rejects.toThrow("fetch failed");
    await expect(talk(`${url}/chat`)).rejects.toThrow("socket hang up");

    const failures = log.lines.filter(({ level }) => level === "error");
    expect(failures.map(({ msg, err }) => [msg, (err as Error).message])).toEqual(
      Array.from({ length: 2 }, () => ["closed a connection because its handler failed", "no database"]),
    );
  });

  it("runs the start hooks once, before the first request", async () => {
    const steps: string[] = [];
    const app = bookshop().onStart(() => void steps.push("start"));
    const { url } = await listen(app.handler, app);

    await Promise.all([fetch(`${url}/books/1`), fetch(`${url}/books/2`)]);

    expect(steps).toEqual(["start"]);
  });
});

describe("handler in Express", () => {
  it("serves the routes below a path of the host, beside the host's own", async () => {
    const app = bookshop();
    const host = express();
    host.get("/own", (_request, response) => void response.send("own"));
    host.use("/api", app.handler);
    const { url } = await listen(host, app);

    const own = await fetch(`${url}/own`);
    const got = await fetch(`${url}/api/books/7?x=1`);
    const posted = await fetch(`${url}/api/books`, json("POST", { title: "Emma", extra: 1 }));
    const nothing = await fetch(`${url}/api/nothing`);

    expect(await own.text()).toBe("own");
    expect(await got.json()).toEqual({ id: "7", url: "http://127.0.0.1/api/books/7?x=1" });
    expect(await posted.json()).toEqual([{ title: "Emma" }, 1]);
    expect([nothing.status, nothing.headers.get("content-type")]).toEqual([
      404,
      "application/problem+json; charset=utf-8",
    ]);
  });

  it("with a body parser before it responds with 500, and the reason is logged", async () => {
    const log = logCatcher();
    const app = bookshop({ logger: log });
    const host = express();
    host.use(express.json());
    host.use("/api", app.handler);
    const { url } = await listen(host, app);

    const posted = await fetch(`${url}/api/books`, json("POST", { title: "Emma" }));
    const got = await fetch(`${url}/api/books/7`);

    expect([posted.status, await posted.json()]).toEqual([
      500,
      expect.objectContaining({ code: "internal_server_error" }),
    ]);
    expect(log.lines.map(({ msg }) => msg)).toEqual([
      "the body has already been read, by request.stream or by a body parser in front of app.handler",
    ]);
    expect(got.status).toBe(200);
  });
});
