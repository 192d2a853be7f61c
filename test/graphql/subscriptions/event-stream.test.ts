import { type IncomingMessage, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { topic } from "portico";
import { AuthenticationMiddleware, SessionAuthBackend, SessionMiddleware, SimpleUser } from "portico/auth";
import { field, schema, subscription, t } from "portico/graphql";
import { type LiveClient, manualClock } from "portico/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { signIn } from "../../sign-in.ts";
import { openGraph } from "./open.ts";
import { until } from "./until.ts";

const tick = topic<number>("test.tick");
let events: string[] = [];
const built = schema({
  query: { hello: field(t.string)(() => "world") },
  subscription: {
    ticks: subscription(t.int)(async function* () {
      events.push("ticks");
      yield* [1, 2, 3];
    }),
    live: subscription(t.int)(async function* ({ ctx }) {
      events.push("start");
      try {
        yield* ctx.pubsub.subscribe(tick);
      } finally {
        events.push("end");
      }
    }),
    fails: subscription(t.int)(async function* () {
      yield 1;
      throw new Error("tulip");
    }),
    mine: subscription(t.int, { auth: true })(async function* () {
      yield 1;
    }),
  },
});
const STREAM = { accept: "text/event-stream" };

interface Streaming {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  text: string;
  isOver: boolean;
  leave(): void;
}

/** A stream over a real connection, as it comes. */
async function stream(client: LiveClient, query: string, headers: Record<string, string> = {}): Promise<Streaming> {
  const outgoing = request({
    port: client.port,
    path: "/graphql",
    method: "POST",
    headers: { "content-type": "application/json", ...STREAM, ...headers },
  });
  outgoing.on("error", () => {});
  outgoing.end(JSON.stringify({ query }));
  const answer = await new Promise<IncomingMessage>((resolve) => outgoing.once("response", resolve));
  const streaming: Streaming = {
    status: answer.statusCode ?? 0,
    headers: answer.headers,
    text: "",
    isOver: false,
    leave: () => void outgoing.destroy(),
  };
  answer.setEncoding("utf8");
  answer.on("data", (chunk: string) => {
    streaming.text += chunk;
  });
  answer.on("error", () => {});
  answer.on("close", () => {
    streaming.isOver = true;
  });
  onTestFinished(() => void outgoing.destroy());
  return streaming;
}

describe("Server-Sent Events", () => {
  it("[SUB-13] [graphql:C3] carry a subscription by POST and by GET: next for each value, then complete", async () => {
    const { client } = await openGraph(built);
    const expected = [
      ":\n\n",
      ...[1, 2, 3].map((n) => `event: next\ndata: {"data":{"ticks":${n}}}\n\n`),
      "event: complete\ndata: \n\n",
    ].join("");

    const post = await client.post("/graphql", { headers: STREAM, body: { query: "subscription { ticks }" } });
    const get = await client.get("/graphql", { headers: STREAM, query: { query: "subscription{ticks}" } });

    for (const answer of [post, get]) {
      const { status, headers } = answer;
      expect(status).toBe(200);
      expect(headers["content-type"]).toBe("text/event-stream; charset=utf-8");
      expect(headers["cache-control"]).toBe("no-store, no-transform");
      expect(answer.text().replaceAll(/,"extensions":\{"cost":\{[^}]*\}\}/g, "")).toBe(expected);
    }
  });

  it("[SUB-21] [graphql:C3] [graphql:I19] are not sent without a matching Accept: 400, and the generator is not started", async () => {
    const { client } = await openGraph(built);
    events = [];
    const asks: readonly Record<string, string>[] = [{ accept: "application/json" }, { accept: "*/*" }, {}];

    for (const headers of asks) {
      const post = await client.post("/graphql", { headers, body: { query: "subscription { ticks }" } });
      const get = await client.get("/graphql", { headers, query: { query: "subscription{ticks}" } });
      for (const answer of [post, get]) {
        expect(answer.status).toBe(400);
        expect(answer.json()).toMatchObject({ errors: [{ extensions: { code: "SUBSCRIPTION_NEEDS_STREAM" } }] });
      }
    }
    expect(events).toEqual([]);
  });

  it("send a query as JSON if Accept allows it too, otherwise as one event", async () => {
    const { client } = await openGraph(built);
    const ask = (accept: string) => client.post("/graphql", { headers: { accept }, body: { query: "{ hello }" } });

    expect((await ask("application/json, text/event-stream")).headers["content-type"]).toContain("application/json");
    const alone = await ask("text/event-stream");
    expect(alone.headers["content-type"]).toContain("text/event-stream");
    expect(alone.text()).toMatch(
      /^:\n\nevent: next\ndata: \{"data":\{"hello":"world"\}.*\}\n\nevent: complete\ndata: \n\n$/,
    );
  });

  it("report a masked failure in an event, and the denial of a gate", async () => {
    const { client } = await openGraph(built);
    const ask = (query: string) => client.post("/graphql", { headers: STREAM, body: { query } });

    const failed = (await ask("subscription { fails }")).text();
    const gated = (await ask("subscription { mine }")).text();

    expect(failed).toContain('"message":"Unexpected error"');
    expect(failed).not.toContain("tulip");
    expect(failed.endsWith("event: complete\ndata: \n\n")).toBe(true);
    expect(gated).toContain("UNAUTHENTICATED");
  });

  it("[graphql:I18] end their generator within 1 s when the client disconnects", async () => {
    const { client } = await openGraph(built);
    events = [];
    const streaming = await stream(client, "subscription { live }");
    await until(() => events.length === 1);

    streaming.leave();

    await until(() => events.length === 2);
    expect(events).toEqual(["start", "end"]);
  });

  it("send a comment every 12 s, so that proxies keep them open", async () => {
    const clock = manualClock(0);
    const { client } = await openGraph(built, { app: { clock } });
    const streaming = await stream(client, "subscription { live }");
    await until(() => streaming.text === ":\n\n");

    clock.advance(12_000);

    await until(() => streaming.text.length > 3);
    expect(streaming.text).toBe(":\n\n:\n\n");
  });

  it("[auth:AU-173] end at the latest with the next comment once their session is revoked", async () => {
    const { client } = await openGraph(built, {
      app: { timeouts: { recheckSeconds: 1_000_000 } },
      declare(app) {
        app.use(new SessionMiddleware({ secret: "a secret for cookies, which is long enough" }));
        app.use(new AuthenticationMiddleware({ userModel: SimpleUser, backend: new SessionAuthBackend() }));
        app.post("/login", ({ request: { sessions } }) => sessions.login(new SimpleUser("ann")));
        app.post("/logout", ({ request: { sessions } }) => sessions.logout());
      },
    });
    events = [];
    const { cookie } = await signIn(client);
    const [mine, nobodys] = [
      await stream(client, "subscription { live }", { cookie }),
      await stream(client, "subscription { live }"),
    ];
    await until(() => events.length === 2);

    await client.post("/logout", { headers: { cookie } });

    await until(() => mine.isOver);
    expect(mine.text).not.toContain("complete");
    await sleep(50);
    expect(nobodys.isOver).toBe(false);
    expect(events).toEqual(["start", "start", "end"]);
  });

  it("still deliver the result of a query that was sent before shutdown", async () => {
    let isAsked = false;
    const world = Promise.withResolvers<string>();
    const slow = schema({
      query: {
        hello: field(t.string)(() => {
          isAsked = true;
          return world.promise;
        }),
      },
      subscription: { ticks: subscription(t.int)(async function* () {}) },
    });
    const { client, app } = await openGraph(slow, { app: { shutdown: { socketSeconds: 0, signals: [] } } });
    const results = Array.fromAsync(client.subscribe("{ hello }"));
    await until(() => isAsked);

    const closing = app.close();
    world.resolve("world");
    await closing;

    expect((await results).map(({ data }) => data)).toEqual([{ hello: "world" }]);
  });

  it("end when the process does", async () => {
    // Only a stream that stays open would take so long.
    const { client, app } = await openGraph(built, { app: { shutdown: { deadlineSeconds: 3_600 } } });
    events = [];
    const streaming = await stream(client, "subscription { live }");
    await until(() => events.length === 1);

    await app.close();

    await until(() => streaming.isOver);
    expect(streaming.text).toBe(":\n\n");
    expect(events).toEqual(["start", "end"]);
  });
});
