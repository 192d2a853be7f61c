import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { currentContext, Depend, type MiddlewareFunction, PorticoApp } from "portico";
import { field, Graph, mutation, schema, t } from "portico/graphql";
import { type LiveClient, liveClient } from "portico/testing";
import { afterEach, describe, expect, it, vi } from "vitest";
import { rawConnection } from "../http/raw-connection.ts";

/** The application's own storage, which its middleware fills from a header. */
const storage = new AsyncLocalStorage<string>();
const enter: MiddlewareFunction = (ctx, next) => storage.run(String(ctx.request.headers["x-caller"]), next);

/** Which request this code runs for, by Portico's context and by the application's storage. */
function here(): string {
  return `${currentContext()?.request.headers["x-caller"] ?? "none"}/${storage.getStore() ?? "none"}`;
}

/** Every place that was reached, with the request that the place believes to serve. */
const seen: { readonly place: string; readonly by: string }[] = [];
const note = (place: string): void => void seen.push({ place, by: here() });

async function* resource(): AsyncGenerator<string> {
  try {
    yield here();
  } finally {
    note("teardown");
  }
}

function shop(timeoutSeconds = 5): PorticoApp {
  const app = new PorticoApp({ logger: false }).use(enter);
  const graph = new Graph(
    schema({
      query: {
        sync: field(t.string)(() => {
          note("sync resolver");
          return here();
        }),
        late: field(t.string)(async () => {
          await sleep(1);
          note("late resolver");
          return here();
        }),
        kept: field(t.string, { params: { resource: Depend(resource) } })(({ resource: value }) => value),
        stuck: field(t.string)(({ ctx }) => {
          note("stuck resolver");
          const { promise, resolve } = Promise.withResolvers<string>();
          ctx.signal.addEventListener("abort", () => {
            note("abort listener");
            resolve("aborted");
          });
          return promise;
        }),
      },
      mutation: { change: mutation(t.string)(() => here()) },
    }),
    { timeoutSeconds },
  );
  graph.onOperation(() => note("hook"));
  graph.mount(app);
  return app;
}

const post = (caller: string, query: string): string => {
  const body = JSON.stringify({ query });
  return `POST /graphql HTTP/1.1\r\nHost: a\r\nX-Caller: ${caller}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
};

let client: LiveClient;
afterEach(async () => {
  seen.splice(0);
  await client.close();
});

const QUERIES = {
  sync: "{ answer: sync }",
  late: "{ answer: late }",
  kept: "{ answer: kept }",
  mutation: "mutation { answer: change }",
} as const;

describe("requests that are served at the same time", () => {
  it("each see their own context and the application's own storage, on connections of their own", async () => {
    client = await liveClient(shop());
    const callers = Array.from({ length: 40 }, (_, at) => `caller-${at}`);

    await Promise.all(
      callers.map(async (caller, at) => {
        const query = Object.values(QUERIES)[at % 4] as string;
        const { data } = await client.graphql<{ answer: string }>(query, {}, { headers: { "x-caller": caller } });
        expect(data?.answer).toBe(`${caller}/${caller}`);
      }),
    );

    expect(seen.filter(({ place }) => place === "hook")).toHaveLength(40);
    expect(seen.filter(({ place }) => place === "teardown")).toHaveLength(10);
    for (const { by } of seen) expect(by).toMatch(/^(caller-\d+)\/\1$/);
  });

  it("each see their own context on one connection, in one packet", async () => {
    client = await liveClient(shop());
    const connection = await rawConnection(client.port);
    const queries = Object.values(QUERIES);

    connection.socket.write(queries.map((query, at) => post(`caller-${at}`, query)).join(""));
    const received = await connection.until("caller-3/caller-3");

    expect(received.match(/"answer":"[^"]+"/g)).toEqual(queries.map((_, at) => `"answer":"caller-${at}/caller-${at}"`));
    await vi.waitFor(() => expect(seen.filter(({ place }) => place === "hook")).toHaveLength(4), 60_000);
    for (const { by } of seen) expect(by).toMatch(/^(caller-\d)\/\1$/);
    connection.socket.destroy();
  });

  it("see their own context when they time out, and get exactly one response", async () => {
    client = await liveClient(shop(0.2));
    const callers = ["caller-1", "caller-2", "caller-3"];
    const connections = await Promise.all(callers.map(() => rawConnection(client.port)));

    connections.forEach((connection, at) => connection.socket.write(post(callers[at] as string, "{ answer: stuck }")));
    const received = await Promise.all(connections.map((connection) => connection.until("HANDLER_TIMEOUT")));
    await vi.waitFor(() => expect(seen.filter(({ place }) => place === "hook")).toHaveLength(3), 60_000);
    await sleep(50);

    for (const text of received) expect(text.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    for (const { received: all } of connections) expect(all().match(/HTTP\/1\.1 /g)).toHaveLength(1);
    expect(
      seen
        .filter(({ place }) => place === "abort listener")
        .map(({ by }) => by)
        .toSorted(),
    ).toEqual(callers.map((caller) => `${caller}/${caller}`));
    for (const { by } of seen) expect(by).toMatch(/^(caller-\d)\/\1$/);
    for (const { socket } of connections) socket.destroy();
  });

  it("see their own context when their clients disconnect", async () => {
    client = await liveClient(shop());
    const callers = ["caller-1", "caller-2", "caller-3"];
    const connections = await Promise.all(callers.map(() => rawConnection(client.port)));

    connections.forEach((connection, at) => connection.socket.write(post(callers[at] as string, "{ answer: stuck }")));
    await vi.waitFor(() => expect(seen.filter(({ place }) => place === "stuck resolver")).toHaveLength(3), 60_000);
    for (const { socket } of connections) socket.destroy();
    await vi.waitFor(() => expect(seen.filter(({ place }) => place === "hook")).toHaveLength(3), 60_000);

    expect(seen.filter(({ place }) => place === "abort listener")).toHaveLength(3);
    for (const { by } of seen) expect(by).toMatch(/^(caller-\d)\/\1$/);
  });
});
