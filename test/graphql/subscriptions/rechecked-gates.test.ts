import { currentContext, topic } from "portico";
import { AuthenticationBackend, AuthenticationMiddleware, AuthResult, SimpleUser } from "portico/auth";
import { field, loader, type OperationResult, schema, subscription, t } from "portico/graphql";
import { type LiveClient, logCatcher } from "portico/testing";
import { beforeEach, describe, expect, it } from "vitest";
import { type Opened, type OpenOptions, openGraph, rawSocket } from "./open.ts";
import { until } from "./until.ts";

const posted = topic<string>("test.posted");
const members = new Map<string, string[]>();
let events: string[] = [];
let isDown = false;

const roomMembers = loader((rooms: readonly string[]) => {
  events.push(`asked ${rooms.join(" ")}`);
  if (isDown) throw new Error("the database is away");
  return rooms.map((room) => members.get(room) ?? []);
});
const built = schema({
  query: { hello: field(t.string)(() => "world") },
  subscription: {
    posts: subscription(t.string, {
      params: { room: t.id },
      auth: async (user, { args, ctx }) => (await roomMembers.load(ctx, args.room)).includes(user.identity),
    })(async function* ({ room, ctx }) {
      try {
        for await (const text of ctx.pubsub.subscribe(posted)) yield `${room} ${text}`;
      } finally {
        events.push(`end ${room}`);
      }
    }),
    deaf: subscription(t.string, {
      params: { room: t.id },
      auth: (user, { args }) => (members.get(args.room) ?? []).includes(user.identity),
    })(async function* () {
      yield "first";
      await new Promise(() => {});
    }),
    allowed: subscription(t.string, {
      permissionClasses: [
        { hasPermission: () => (members.get("r1") ?? []).includes(currentContext()?.user.identity ?? "") },
      ],
    })(async function* () {
      yield "first";
      await new Promise(() => {});
    }),
  },
});

class ByHeader extends AuthenticationBackend {
  readonly scope = "apikey" as const;
  async authenticate(request: Parameters<AuthenticationBackend["authenticate"]>[0]): Promise<AuthResult> {
    const name = request.headers["x-user"];
    return name === undefined ? AuthResult.decline("no user header") : AuthResult.accept(name, this.scope);
  }
}

function start(options: OpenOptions = {}): Promise<Opened> {
  return openGraph(built, {
    ...options,
    app: { timeouts: { recheckSeconds: 0.1 }, ...options.app },
    declare: (app) => app.use(new AuthenticationMiddleware({ userModel: SimpleUser, backend: [new ByHeader()] })),
  });
}

async function asAda(client: LiveClient): ReturnType<typeof rawSocket> {
  return rawSocket(client, { init: true, headers: { "x-user": "ada" } });
}
const subscribe = (id: string, query: string): unknown => ({ type: "subscribe", id, payload: { query } });
const asked = (): number => events.filter((event) => event.startsWith("asked")).length;

beforeEach(() => {
  events = [];
  isDown = false;
  members.clear();
  members.set("r1", ["ada"]).set("r2", ["ada"]);
});

describe("the gate of a subscription", () => {
  it("is checked again, and ends only that subscription when it denies access", async () => {
    const { client, app } = await start();
    const socket = await asAda(client);
    socket.say(subscribe("1", 'subscription { posts(room: "r1") }'));
    socket.say(subscribe("2", 'subscription { posts(room: "r2") }'));
    await until(() => asked() >= 4);

    members.set("r1", ["bob"]);
    const refused = await socket.hear();
    await until(() => events.includes("end r1"));
    await app.stores.bus.publish(posted, "hello");

    expect(refused).toMatchObject({
      id: "1",
      type: "error",
      payload: [{ message: "Permission denied", extensions: { code: "FORBIDDEN" } }],
    });
    expect(await socket.hear()).toEqual({
      id: "2",
      type: "next",
      payload: expect.objectContaining({ data: { posts: "r2 hello" } }),
    });
  });

  it("runs in one operation for a whole socket: its loader loads everything in one new batch", async () => {
    const { client } = await start();
    const socket = await asAda(client);
    socket.say(subscribe("1", 'subscription { posts(room: "r1") }'));
    socket.say(subscribe("2", 'subscription { posts(room: "r2") }'));

    // A check may come while the second one is being opened. After that, every check asks about both rooms at once.
    await expect.poll(() => events.slice(-2), { interval: 5 }).toEqual(["asked r1 r2", "asked r1 r2"]);
  });

  it("is checked again for a stream over HTTP, which then ends with the error", async () => {
    const { client } = await start();
    const streaming = client.post("/graphql", {
      headers: { "x-user": "ada", accept: "text/event-stream" },
      body: { query: 'subscription { posts(room: "r1") }' },
    });
    await until(() => asked() >= 1);

    members.delete("r1");

    const text = (await streaming).text();
    expect(text).toContain('"code":"FORBIDDEN"');
    expect(text).toContain("event: complete");
  });

  it.each([
    ["auth", 'subscription { deaf(room: "r1") }'],
    ["permissionClasses", "subscription { allowed }"],
  ])("ends it for the client even if the generator does not notice: %s", async (_, query) => {
    const { client } = await start();
    const socket = await asAda(client);
    socket.say(subscribe("1", query));
    expect(await socket.hear()).toMatchObject({ type: "next" });

    members.delete("r1");

    expect(await socket.hear()).toMatchObject({
      id: "1",
      type: "error",
      payload: [{ extensions: { code: "FORBIDDEN" } }],
    });
  });

  it("keeps the subscription open while it throws: the failure is logged and the check is retried", async () => {
    const log = logCatcher();
    const { client } = await start({ app: { timeouts: { recheckSeconds: 0.1 }, logger: log } });
    const socket = await asAda(client);
    socket.say(subscribe("1", 'subscription { posts(room: "r1") }'));
    await until(() => asked() >= 1);

    isDown = true;
    await until(() => log.lines.filter(({ msg }) => msg.startsWith("a gate failed")).length >= 2);
    isDown = false;
    members.delete("r1");

    expect(await socket.hear()).toMatchObject({
      id: "1",
      type: "error",
      payload: [{ extensions: { code: "FORBIDDEN" } }],
    });
  });

  it("is reported to the hooks when it ends a subscription", async () => {
    const ends: OperationResult[] = [];
    const { client } = await start({ graph: (graph) => graph.onOperation((result) => ends.push(result)) });
    const socket = await asAda(client);
    socket.say(subscribe("1", 'subscription { posts(room: "r1") }'));
    await until(() => asked() >= 1);

    members.delete("r1");
    await socket.hear();

    await until(() => ends.length === 1);
    expect(ends[0]?.errors?.map(({ extensions }) => extensions.code)).toEqual(["FORBIDDEN"]);
  });
});
