import { AsyncLocalStorage } from "node:async_hooks";
import { Readable } from "node:stream";
import { ConfigurationError, PorticoApp, type RequestEvent, type RequestHook } from "portico";
import { useAuth } from "portico/auth";
import { field, Graph, schema, t } from "portico/graphql";
import { liveClient, logCatcher, manualClock } from "portico/testing";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { WebSocket } from "ws";
import { ROUTINGS } from "../http/engine/routings.ts";
import { rawConnection } from "../http/raw-connection.ts";
import { overBoth } from "../matrix.ts";

/** The events of an application, without their durations. */
function heard(app: PorticoApp): readonly string[] {
  const events: string[] = [];
  app.onRequest(({ kind, method, route, status }) => void events.push(`${kind} ${method} ${route} ${status}`));
  return events;
}

function shop(): PorticoApp {
  const app = new PorticoApp({ logger: false });
  app.get("/books/:id", ({ path }) => ({ id: path.id }));
  app.get("/broken", () => {
    throw new Error("no");
  });
  app.get("/gated", { auth: useAuth() }, () => "never");
  app.get("/slow", { timeoutSeconds: 0.01 }, () => new Promise(() => {}));
  app.get("/stream", ({ response }) => response.stream(Readable.from(["a", "b"])));
  app.post("/books", { maxBody: 10 }, ({ request }) => request.json());
  new Graph(schema({ query: { hello: field(t.string)(() => "world") } })).mount(app);
  return app;
}

describe("a request hook", () => {
  let events: readonly string[];
  overBoth(
    "is called for every response, by the pattern of its route",
    () => {
      const app = shop();
      events = heard(app);
      return app;
    },
    async ({ get, post }) => {
      await get("/books/7?x=1");
      await get("/nothing/here");
      await post("/books/7");
      await get("/broken");
      await get("/gated");
      await get("/slow");
      expect((await get("/stream")).text()).toBe("ab");
      await post("/books", { body: { far: "too long" } });
      await post("/graphql", { body: { query: "{ hello }" } });

      await expect
        .poll(() => events.toSorted())
        .toEqual([
          "response GET /books/:id 200",
          "response GET /broken 500",
          "response GET /gated 401",
          "response GET /slow 503",
          "response GET /stream 200",
          "response GET null 404",
          "response POST /books 413",
          "response POST /graphql 200",
          "response POST null 405",
        ]);
    },
  );

  it.each(ROUTINGS)("is called once for a stream that fails before its first byte, routed %s", async (_, route) => {
    const app = route(new PorticoApp({ logger: false }));
    const broken = (): Readable =>
      new Readable({
        read() {
          this.destroy(new Error("no"));
        },
      });
    app.get("/stream", ({ response }) => response.stream(broken()));
    app.get("/next", () => "well");
    const events = heard(app);
    const around = vi.fn<(event: RequestEvent) => void>();
    app.onRequest({ aroundRequest: (run) => void run().then(around) });
    const client = await liveClient(app);
    onTestFinished(() => client.close());

    expect((await client.get("/stream")).status).toBe(500);
    await client.get("/next");

    expect(events).toEqual(["response GET /stream 500", "response GET /next 200"]);
    expect(around.mock.calls.map(([{ status }]) => status)).toEqual([500, 200]);
  });

  it("hears of a socket when it opens and when it closes, and of a rejected one", async () => {
    const app = new PorticoApp({ logger: false });
    app.socket("/live", async ({ socket }) => {
      for await (const message of socket) socket.send(message);
    });
    app.socket("/gated", { auth: useAuth() }, () => {});
    const events = heard(app);
    const { url } = await app.listen({ port: 0 });
    onTestFinished(() => app.close());

    const socket = new WebSocket(`${url}/live`);
    await new Promise((resolve) => socket.once("open", resolve));
    await expect.poll(() => events).toEqual(["socket-opened GET /live 101"]);
    socket.close();
    await expect.poll(() => events).toHaveLength(2);
    const refused = new WebSocket(`${url}/gated`);
    await new Promise((resolve) => refused.once("error", resolve));

    await expect
      .poll(() => events)
      .toEqual(["socket-opened GET /live 101", "socket-closed GET /live 101", "response GET /gated 401"]);
  });

  it("measures to the response, and to the end of a stream", async () => {
    const clock = manualClock();
    const app = new PorticoApp({ logger: false, clock });
    app.get("/books", () => {
      clock.advance(250);
      return [];
    });
    app.get("/stream", ({ response }) =>
      response.stream(
        (async function* () {
          yield "a";
          clock.advance(2_000);
          yield "b";
        })(),
      ),
    );
    const durations: number[] = [];
    app.onRequest(({ durationSeconds }) => void durations.push(durationSeconds));
    const client = await liveClient(app);
    onTestFinished(() => client.close());

    await client.get("/books");
    await client.get("/stream");

    await expect.poll(() => durations).toEqual([0.25, 2]);
  });

  it("does not delay or change the response, and its errors are logged", async () => {
    const logs = logCatcher();
    const app = new PorticoApp({ logger: logs });
    app.get("/books", () => []);
    app
      .onRequest(() => {
        throw new Error("sync");
      })
      .onRequest(async () => {
        throw new Error("async");
      })
      .onRequest(() => new Promise(() => {}))
      .onRequest({ aroundRequest: () => "does not run it" })
      .onRequest({
        aroundRequest: async () => {
          throw new Error("around");
        },
      });
    const client = await liveClient(app);
    onTestFinished(() => client.close());

    const failures = () =>
      logs.lines
        .filter(({ msg }) => msg === "a request hook failed")
        .map(({ err }) => (err as { readonly message: string }).message);

    expect((await client.get("/books")).json()).toEqual([]);

    await vi.waitFor(() => expect(failures().toSorted()).toEqual(["around", "async", "sync"]), 60_000);
  });

  it("may surround the request, and learns how it ended", async () => {
    const place = new AsyncLocalStorage<string>();
    const ends: RequestEvent[] = [];
    const app = new PorticoApp({ logger: false });
    app.onRequest({
      aroundRequest: async (run) => void ends.push(await place.run("inside", run)),
    });
    app.get("/where", async () => {
      await Promise.resolve();
      return { where: place.getStore() };
    });
    app.socket("/where", ({ socket }) => socket.send(place.getStore() ?? "outside"));
    const { url } = await app.listen({ port: 0 });
    onTestFinished(() => app.close());

    expect(await (await fetch(`${url}/where`)).json()).toEqual({ where: "inside" });
    const socket = new WebSocket(`${url}/where`);
    const said = await new Promise((resolve) => socket.once("message", resolve));

    expect(said).toEqual(Buffer.from("inside"));
    await expect
      .poll(() => ends.map(({ kind, route, status }) => [kind, route, status]))
      .toEqual([
        ["response", "/where", 200],
        ["socket-closed", "/where", 101],
      ]);
  });

  it("hears once of each request, also if it is pipelined, half sent or left by its client", async () => {
    const app = new PorticoApp({ logger: false });
    app.get("/books", () => []);
    app.post("/books", ({ request }) => request.json());
    app.get("/endless", ({ ctx, response }) =>
      response.stream(
        (async function* () {
          while (!ctx.signal.aborted) {
            yield "x";
            await new Promise((resolve) => setTimeout(resolve, 5));
          }
        })(),
      ),
    );
    const events = heard(app);
    let open = 0;
    app.onRequest({
      aroundRequest: async (run) => {
        open++;
        await run();
        open--;
      },
    });
    const { port } = await app.listen({ port: 0 });
    onTestFinished(() => app.close());

    const pipelined = await rawConnection(port);
    pipelined.socket.write("GET /books HTTP/1.1\r\nhost: shop\r\n\r\n".repeat(3));
    await expect.poll(() => pipelined.received().split("200 OK").length).toBe(4);
    const half = await rawConnection(port);
    half.socket.write(
      "POST /books HTTP/1.1\r\nhost: shop\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{",
    );
    await expect.poll(() => open).toBe(1);
    half.socket.destroy();
    const leaving = await rawConnection(port);
    leaving.socket.write("GET /endless HTTP/1.1\r\nhost: shop\r\n\r\n");
    await leaving.until("x");
    leaving.socket.destroy();
    const inventive = await rawConnection(port);
    inventive.socket.write("PROPFIND /books HTTP/1.1\r\nhost: shop\r\n\r\n");
    await inventive.until("405");

    await expect
      .poll(() => events.toSorted())
      .toEqual([
        "response GET /books 200",
        "response GET /books 200",
        "response GET /books 200",
        "response GET /endless 200",
        "response POST /books 400",
        "response PROPFIND null 405",
      ]);
    await expect.poll(() => open).toBe(0);
  });

  it.each([[{}], ["a name"], [null], [{ onRequest: 1 }], [{ onRequest: () => {}, aroundRequest: true }]])(
    "must be a function or an object with one: %j",
    (hook) => {
      const add = () => new PorticoApp({ logger: false }).onRequest(hook as unknown as RequestHook);

      expect(add).toThrow(ConfigurationError);
      expect(add).toThrow("onRequest must be given a function (event), or an object with onRequest or aroundRequest");
    },
  );
});
