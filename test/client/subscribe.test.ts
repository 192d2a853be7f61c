import { once } from "node:events";
import { createClient, type SubscriptionEvent } from "portico-client";
import { describe, expect, it, onTestFinished } from "vitest";
import { WebSocketServer } from "ws";
import { ticks } from "./client-app.ts";
import { type ClientServer, clientServer, signedIn, spoil } from "./client-server.ts";

type Events = AsyncGenerator<SubscriptionEvent<{ readonly ticks?: number; readonly secretTicks?: number }>>;

/** Publishes until an event arrives: a subscriber of the bus misses the events before it. */
async function nextAfterTick(events: Events, { app }: ClientServer, value: number): Promise<unknown> {
  const next = events.next();
  const timer = setInterval(() => void app.pubsub.publish(ticks, value), 20);
  const { value: event } = await next.finally(() => clearInterval(timer));
  return event;
}

describe.each(["sse", "websocket"] as const)("a subscription over %s", (transport) => {
  it("yields events, and ends on the server when the loop is left", async () => {
    const server = await clientServer();
    const events: Events = createClient({ url: server.url, transport }).subscribe("subscription { ticks }");

    expect(await nextAfterTick(events, server, 1)).toEqual({ data: { ticks: 1 }, error: null, gap: false });
    expect(await nextAfterTick(events, server, 1)).toEqual({ data: { ticks: 1 }, error: null, gap: false });
    expect(server.open()).toBe(1);
    await events.return(undefined);

    await expect.poll(server.open).toBe(0);
  });

  it("sends a token, and a fresh one if the server rejects it", async () => {
    const server = await clientServer();
    const { client, tokens } = await signedIn(server.url, { transport });
    await spoil(tokens);

    const events: Events = client.subscribe("subscription { secretTicks }");

    expect(await nextAfterTick(events, server, 2)).toMatchObject({ data: { secretTicks: 2 } });
    expect(server.seen.filter((line) => line.endsWith("/refresh"))).toHaveLength(1);
    await events.return(undefined);
  });

  it("rejects if the server denies it", async () => {
    const { url, seen } = await clientServer();

    const events: Events = createClient({ url, transport }).subscribe("subscription { secretTicks }");
    const invalid: Events = createClient({ url, transport }).subscribe("subscription { nothing }");

    await expect(events.next()).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
    await expect(invalid.next()).rejects.toMatchObject({ code: "GRAPHQL_VALIDATION_FAILED" });
    expect(seen.length).toBeLessThanOrEqual(2);
  });

  it("rejects with the sign-out if its credential was revoked and cannot be refreshed", async () => {
    const server = await clientServer();
    const { client, signOuts } = await signedIn(server.url, { transport });
    const events: Events = client.subscribe("subscription { secretTicks }");
    await nextAfterTick(events, server, 3);

    const ended = (async () => {
      for await (const event of events) void event;
    })();
    await server.revokeAll();

    await expect(ended).rejects.toMatchObject({ name: "PorticoClientError" });
    expect(signOuts).toMatchObject([{ status: 401 }]);
  });

  it("ends when its signal aborts", async () => {
    const server = await clientServer();
    const controller = new AbortController();
    const { signal } = controller;
    const events: Events = createClient({ url: server.url, transport }).subscribe("subscription { ticks }", { signal });
    await nextAfterTick(events, server, 4);

    const next = events.next();
    controller.abort(new Error("closed the page"));

    await expect(next).rejects.toThrow("closed the page");
  });
});

it("connects again after an upgrade that a proxy has refused", async () => {
  let attempts = 0;
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1", verifyClient: () => ++attempts > 1 });
  onTestFinished(() => server.close());
  await once(server, "listening");
  server.on("connection", (socket) =>
    socket.on("message", (text: Buffer) => {
      const { type } = JSON.parse(String(text)) as { readonly type: string };
      if (type === "connection_init") socket.send(JSON.stringify({ type: "connection_ack" }));
      if (type === "subscribe") socket.send(JSON.stringify({ id: "1", type: "next", payload: { data: { ticks: 7 } } }));
    }),
  );
  const { port } = server.address() as { readonly port: number };
  const client = createClient({ url: `http://127.0.0.1:${port}`, transport: "websocket", idleSeconds: 0 });
  const events: Events = client.subscribe("subscription { ticks }");

  expect((await events.next()).value).toMatchObject({ data: { ticks: 7 } });
  expect(attempts).toBe(2);
  await events.return(undefined);
});

describe("a silent connection", () => {
  it("over SSE is replaced, with a gap", async () => {
    const server = await clientServer();
    const events: Events = createClient({ url: server.url, idleSeconds: 0.2 }).subscribe("subscription { ticks }");
    await nextAfterTick(events, server, 5);

    expect((await events.next()).value).toEqual({ data: null, error: null, gap: true });
    await events.return(undefined);
  });

  it("over a WebSocket is replaced if the server does not respond to pings", async () => {
    const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
    onTestFinished(() => server.close());
    await once(server, "listening");
    server.on("connection", (socket) =>
      socket.on("message", (text: Buffer) => {
        const { type } = JSON.parse(String(text)) as { readonly type: string };
        if (type === "connection_init") socket.send(JSON.stringify({ type: "connection_ack" }));
      }),
    );
    const { port } = server.address() as { readonly port: number };
    const client = createClient({ url: `http://127.0.0.1:${port}`, transport: "websocket", idleSeconds: 0.2 });
    const events: Events = client.subscribe("subscription { ticks }");

    expect((await events.next()).value).toEqual({ data: null, error: null, gap: true });
    await events.return(undefined);
  });

  it("over a WebSocket stays open while the server responds to pings", async () => {
    // A machine that stands still for longer than the limit looks like a silent server.
    const seen = [];
    for (let idleSeconds = 0.5; seen.at(-1)?.gap !== false && idleSeconds < 20; idleSeconds *= 6)
      seen.push(await afterSilence(idleSeconds));

    expect(seen.at(-1)).toEqual({ data: { ticks: 6 }, error: null, gap: false });
  });

  /** The event that follows a pause of more than twice the limit. */
  async function afterSilence(idleSeconds: number) {
    const server = await clientServer();
    const client = createClient({ url: server.url, transport: "websocket", idleSeconds });
    const events: Events = client.subscribe("subscription { ticks }");
    await nextAfterTick(events, server, 5);
    const next = events.next();
    await new Promise((done) => setTimeout(done, idleSeconds * 2_400));
    await server.app.pubsub.publish(ticks, 6);
    const { value } = await next;
    await events.return(undefined);
    return value;
  }
});
