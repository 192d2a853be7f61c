import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { PassThrough } from "node:stream";
import { PorticoApp } from "portico";
import { liveClient, logCatcher } from "portico/testing";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { rawConnection } from "../../raw-connection.ts";
import { readResponses } from "../../read-responses.ts";
import { ROUTINGS } from "../routings.ts";
import { connected, get, SHUTDOWN } from "./connected.ts";

describe("the server of an application", () => {
  /** How often it looks for slow clients. Node has the option, and this property, without documenting the latter. */
  const intervalOf = (server: Server): unknown => Reflect.get(server, "connectionsCheckingInterval");

  it.each([
    [{ headersSeconds: 2, requestSeconds: 8 }, [2_000, 8_000, 500]],
    [{ headersSeconds: 8, requestSeconds: 8 }, [8_000, 8_000, 2_000]],
    [{ headersSeconds: 0.2, requestSeconds: 8 }, [200, 8_000, 100]],
    [{ headersSeconds: 0.401, requestSeconds: 0.1 + 0.2 + 0.2 }, [401, 500, 101]],
    [{ headersSeconds: 0.1 + 0.2, requestSeconds: 2.00001 }, [301, 2_001, 100]],
  ])("has the time limits of %j", (timeouts, [headers, request, interval]) => {
    const { server } = new PorticoApp({ logger: false, timeouts }).engine;

    expect([server.headersTimeout, server.requestTimeout]).toEqual([headers, request]);
    expect(intervalOf(server)).toBe(interval);
  });

  it("keeps idle connections for keepAliveSeconds, by default for longer than load balancers do", () => {
    const { server } = new PorticoApp({ logger: false, timeouts: { keepAliveSeconds: 0.1 + 0.2 } }).engine;

    expect(server.keepAliveTimeout).toBe(301);
    expect(new PorticoApp({ logger: false }).engine.server.keepAliveTimeout).toBe(72_000);
  });
});

describe.each(ROUTINGS)("an application whose requests are routed %s", (_, route) => {
  it("logs errors with their details, and nothing about requests that succeed", async () => {
    const lines: string[] = [];
    const stream = { write: (line: string) => void lines.push(line) };
    const app = route(new PorticoApp({ logger: { level: "info", stream }, openapi: false }))
      .get("/fine", () => "fine")
      .get("/broken", () => {
        throw Object.assign(new Error("broken"), { shelf: 7 });
      });

    await app.inject("/fine");
    await app.inject("/broken");

    const logged = lines.map((line) => JSON.parse(line) as { msg: string; err: { message: string; shelf?: number } });
    expect(logged.map(({ msg, err }) => [msg, err.message])).toEqual([["broken", "broken"]]);
  });

  it("passes its log to a given logger", async () => {
    const log = logCatcher();
    const app = route(new PorticoApp({ logger: log, openapi: false })).get("/broken", () => {
      throw new Error("broken");
    });

    await app.inject("/broken");

    expect(log.lines.map(({ level, msg }) => [level, msg])).toEqual([["error", "broken"]]);
  });

  it("rejects a request that arrives during the shutdown, and closes its connection", async () => {
    const handler = Promise.withResolvers<string>();
    const app = route(new PorticoApp({ logger: false, shutdown: SHUTDOWN }))
      .get("/slow", () => handler.promise)
      .get("/next", () => "next");
    const { port } = await liveClient(app);
    let read = 0;
    app.engine.server.on("connection", (socket) => socket.on("data", () => read++));
    const [slow, late] = [await rawConnection(port), await rawConnection(port)];

    slow.socket.write(get("/slow"));
    late.socket.write("GET /next HTTP/1.1\r\nHost");
    await expect.poll(() => read).toBe(2);
    const closing = app.close();
    late.socket.write(": x\r\n\r\n");
    await late.closed;
    handler.resolve("slow");
    await closing;
    await slow.closed;

    const [answer] = readResponses(late.received(), ["GET"]).responses;
    expect(answer).toMatchObject({ status: 503, isComplete: true });
    expect(answer?.headers.toLowerCase()).toContain("\r\nconnection: close\r\n");
    expect(JSON.parse(answer?.body ?? "")).toMatchObject({ code: "shutting_down" });
    expect(slow.received()).toContain('"slow"');
  });
});

describe("the shutdown of an application", () => {
  it("does not wait for a connection that was never used", async () => {
    const { app, client, server } = await connected(() => {});
    const cut = once(server, "close");

    await app.close();
    await cut;
    await client.closed;

    expect(client.received()).toBe("");
  });

  it("waits for a response that is pending, and closes its connection, while unused ones are closed", async () => {
    const handler = Promise.withResolvers<string>();
    let isCalled = false;
    const { app, client } = await connected(
      (app) =>
        app.get("/slow", () => {
          isCalled = true;
          return handler.promise;
        }),
      { shutdown: { ...SHUTDOWN, deadlineSeconds: 60 } },
    );
    const unused = await rawConnection((app.engine.server.address() as AddressInfo).port);

    client.socket.write(get("/slow"));
    await expect.poll(() => isCalled).toBe(true);
    const closing = app.close();
    await unused.closed;
    handler.resolve("slow");
    await closing;
    await client.closed;

    expect(client.received()).toContain('"slow"');
  });

  it("does not wait for the connection of a stream that ends, which was to be kept", async () => {
    const stream = new PassThrough();
    const { app, client } = await connected(
      (app) => app.get("/stream", ({ response }) => response.stream(stream, "text/plain")),
      { shutdown: { ...SHUTDOWN, deadlineSeconds: 60 } },
    );

    client.socket.write(get("/stream"));
    stream.write("part");
    const begun = await client.until("part");
    const closing = app.close();
    stream.end();
    await closing;
    await client.closed;

    expect(begun.toLowerCase()).toContain("connection: keep-alive");
    expect(readResponses(client.received(), ["GET"]).responses).toMatchObject([{ body: "part", isComplete: true }]);
  });

  it("cuts what is left after its deadline", async () => {
    let isCalled = false;
    const { app, client } = await connected(
      (app) =>
        app.get("/never", () => {
          isCalled = true;
          return new Promise(() => {});
        }),
      { shutdown: { ...SHUTDOWN, deadlineSeconds: 0.05 } },
    );

    client.socket.write(get("/never"));
    await expect.poll(() => isCalled).toBe(true);
    await app.close();
    await client.closed;

    expect(client.received()).toBe("");
  });

  it("leaves no timer behind", async () => {
    const app = new PorticoApp({ logger: false, shutdown: SHUTDOWN });
    await app.listen({ port: 0 });
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] });
    onTestFinished(() => void vi.useRealTimers());

    await app.close();

    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("a server that cannot listen", () => {
  it.each([
    ["EACCES", "PorticoApp.listen.port is 65535, which this process is not allowed to open"],
    ["EADDRINUSE", "PorticoApp.listen.port is 65535, which is already in use on shop.invalid"],
    ["EADDRNOTAVAIL", "PorticoApp.listen.host is shop.invalid, which is not an address of this machine"],
    ["ENOTFOUND", "PorticoApp.listen.host is shop.invalid, which can't be resolved to an address"],
    ["EAI_AGAIN", "PorticoApp.listen.host is shop.invalid, which can't be resolved to an address"],
  ])("says which option is to blame for %s", async (code, message) => {
    const app = new PorticoApp({ logger: false });
    const cause = Object.assign(new Error("no"), { code });
    vi.spyOn(app.engine, "listen").mockRejectedValue(cause);

    const failure: unknown = await app.listen({ port: 65_535, host: "shop.invalid" }).catch((error: unknown) => error);

    expect(failure).toHaveProperty("message", message);
    expect(failure).toHaveProperty("cause", cause);
  });

  it("passes on an error that no option is to blame for", async () => {
    const app = new PorticoApp({ logger: false });
    const cause = Object.assign(new Error("too many open files"), { code: "EMFILE" });
    vi.spyOn(app.engine, "listen").mockRejectedValue(cause);

    await expect(app.listen({ port: 0 })).rejects.toBe(cause);
  });
});
