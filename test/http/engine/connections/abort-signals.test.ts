import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type HttpContext, PorticoApp } from "portico";
import { describe, expect, it, onTestFinished } from "vitest";
import { rawConnection } from "../../raw-connection.ts";
import { ROUTINGS } from "../routings.ts";
import { connected, get, SHUTDOWN, upgrade } from "./connected.ts";

describe.each(ROUTINGS)("the signal of a request that is routed %s", (_, route) => {
  it("aborts when the client disconnects, also if it is read only then", async () => {
    const contexts: HttpContext[] = [];
    const { client, server } = await connected((app) =>
      route(app).get("/", ({ ctx }) => {
        contexts.push(ctx);
        return new Promise(() => {});
      }),
    );

    client.socket.write(get("/"));
    await expect.poll(() => contexts.length).toBe(1);
    client.socket.destroy();
    await once(server, "close");

    expect(contexts[0]?.signal.aborted).toBe(true);
    expect(contexts[0]?.signal.reason).toMatchObject({ name: "AbortError", message: "The client disconnected" });
  });

  it("does not abort after the response, whether it was read before or not", async () => {
    const contexts: HttpContext[] = [];
    const { client, server } = await connected((app) =>
      route(app).get("/:when", ({ ctx, path }) => {
        contexts.push(ctx);
        return { when: path.when, isAborted: path.when === "before" && ctx.signal.aborted };
      }),
    );

    client.socket.write(get("/before"));
    await client.until('"before","isAborted":false}');
    client.socket.write(get("/after"));
    await client.until('"after","isAborted":false}');
    client.socket.destroy();
    await once(server, "close");

    expect(contexts.map(({ signal }) => signal.aborted)).toEqual([false, false]);
  });

  it("does not abort after the response to an injected request", async () => {
    const signals: AbortSignal[] = [];
    const app = route(new PorticoApp({ logger: false, shutdown: SHUTDOWN })).get("/", ({ ctx }) => {
      signals.push(ctx.signal);
      return "done";
    });

    await app.inject("/");
    await app.close();

    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  });
});

describe("requests of another server on one connection, which runs them at once", () => {
  it.each([
    [1, "no upgrade", ""],
    [1, "an upgrade", upgrade("/none")],
    [3, "an upgrade", upgrade("/none")],
  ])("are all aborted with it: %d that wait for their turn to respond, and %s", async (waiting, _, last) => {
    const app = new PorticoApp({ logger: false });
    const contexts: HttpContext[] = [];
    const server = createServer((request, response) => {
      void app.identify(request, response).then((ctx) => contexts.push(ctx));
    })
      .on("upgrade", app.upgradeHandler)
      .listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(async () => {
      server.closeAllConnections();
      server.close();
      await app.close();
    });
    const client = await rawConnection((server.address() as AddressInfo).port);

    client.socket.write(get("/").repeat(waiting + 2) + last);
    await expect.poll(() => contexts.length).toBe(waiting + 2);
    const signals = contexts.slice(0, -1).map(({ signal }) => signal);
    client.socket.destroy();

    await expect.poll(() => signals.every(({ aborted }) => aborted)).toBe(true);
    // The signal of the last one is read only now.
    const { signal } = contexts.at(-1) as HttpContext;
    await expect.poll(() => signal.aborted).toBe(true);
  });
});
