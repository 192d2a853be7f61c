import { type KeyValueStore, memoryStores, PorticoApp } from "portico";
import {
  AuthenticationMiddleware,
  JWTAuthBackend,
  SessionAuthBackend,
  SessionMiddleware,
  SimpleUser,
  TokenForUser,
  useAuth,
} from "portico/auth";
import { field, Graph, schema, subscription, t } from "portico/graphql";
import { type LiveClient, liveClient, manualClock, SocketRefused } from "portico/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { signIn } from "../../sign-in.ts";

const secret = "the-secret-of-the-gate-matrix-0123456789";
const clock = manualClock(Date.UTC(2026, 0, 1));
const userModel = { loadUser: async (name: string) => new SimpleUser(name, name === "reader" ? ["read:books"] : []) };

/** A durable store that can be switched off. */
const { durable } = memoryStores();
let isDown = false;
const store: KeyValueStore = new Proxy(durable, {
  get(target, name: keyof KeyValueStore) {
    // A member is optional.
    if (target[name] === undefined) return undefined;
    return (...args: never[]) =>
      isDown ? Promise.reject(new Error("the store is down")) : (target[name] as (...all: never[]) => unknown)(...args);
  },
});

function build(): PorticoApp {
  const app = new PorticoApp({ logger: false, clock })
    .use(new SessionMiddleware({ secret, store }))
    .use(
      new AuthenticationMiddleware({
        userModel,
        backend: [new JWTAuthBackend({ secretKey: secret, identifier: "sub", clock }), new SessionAuthBackend()],
      }),
    )
    .post("/login/:name", ({ request, path }) => request.sessions.login(new SimpleUser(path.name)))
    .post("/logout", ({ request }) => request.sessions.logout())
    .get("/any", { auth: useAuth() }, () => "in")
    .get("/books", { auth: useAuth({ permissions: ["read:books"] }) }, () => "in")
    .get("/open", { auth: useAuth({ required: false }) }, () => "in")
    .socket("/any-socket", { auth: useAuth() }, ({ socket }) => socket.close())
    .socket("/books-socket", { auth: useAuth({ permissions: ["read:books"] }) }, ({ socket }) => socket.close());
  const query = {
    open: field(t.string)(() => "in"),
    any: field(t.nullable(t.string), { auth: true })(() => "in"),
    books: field(t.nullable(t.string), { auth: (user) => user.hasPermission("read:books") })(() => "in"),
  };
  const live = {
    open: subscription(t.string)(async function* () {
      yield "in";
    }),
    any: subscription(t.string, { auth: true })(async function* () {
      yield "in";
    }),
    books: subscription(t.string, { auth: (user) => user.hasPermission("read:books") })(async function* () {
      yield "in";
    }),
  };
  const built = schema({ query, subscription: live });
  new Graph(built).mount(app);
  new Graph(built, { path: "/members", auth: useAuth() }).mount(app);
  return app;
}

type Headers = Readonly<Record<string, string>>;
let client: LiveClient;
beforeAll(async () => {
  client = await liveClient(build());
});
afterAll(() => client.close());

const bearer = async (name: string, accessSeconds = 600): Promise<Headers> => {
  const { access_token } = await new TokenForUser(new SimpleUser(name), { secret, clock, accessSeconds }).tokenPair();
  return { authorization: `Bearer ${access_token}` };
};
function session(name: string): Promise<Headers> {
  return signIn(client, `/login/${name}`);
}

/** Every identity that a request can have, as the headers that it comes with. */
const identities: Readonly<Record<string, () => Promise<Headers>>> = {
  anonymous: async () => ({}),
  "a reader, by token": () => bearer("reader"),
  "a reader, by session": () => session("reader"),
  "a user without the permission, by token": () => bearer("stranger"),
  "a user without the permission, by session": () => session("stranger"),
  "an expired token": async () => {
    const headers = await bearer("reader", 1);
    clock.advance(60_000);
    return headers;
  },
  "a session that has ended": async () => {
    const headers = await session("reader");
    clock.advance(3 * 3_600_000);
    return headers;
  },
  "a revoked session": async () => {
    const headers = await session("reader");
    await client.post("/logout", { headers });
    return headers;
  },
  "a session while the store is down": async () => {
    const headers = await session("reader");
    isDown = true;
    return headers;
  },
};

const route = (path: string) => async (headers: Headers) => (await client.get(path, { headers })).status;
const socket = (path: string) => async (headers: Headers) => {
  try {
    await (await client.socket(path, { headers })).closed;
    return 101;
  } catch (error) {
    if (error instanceof SocketRefused) return error.response.status;
    throw error;
  }
};
interface Result {
  readonly data?: Readonly<Record<string, unknown>> | null;
  readonly errors?: readonly { readonly extensions: Readonly<Record<string, unknown>> }[];
}
const word = ({ data, errors }: Result, name: string): unknown => errors?.[0]?.extensions["code"] ?? data?.[name];
const gatedField = (name: string) => async (headers: Headers) => {
  const answer = await client.post("/graphql", { headers, body: { query: `{ ${name} }` } });
  return word(answer.json() as Result, name);
};
/** Of a batch whose other entry asks for what is open: that one is always answered. */
const batchEntry = (name: string) => async (headers: Headers) => {
  const answer = await client.post("/graphql", { headers, body: [{ query: "{ open }" }, { query: `{ ${name} }` }] });
  const [open, gated] = answer.json() as [Result, Result];
  expect(open.data).toEqual({ open: "in" });
  return word(gated, name);
};
const endpoint = async (headers: Headers): Promise<string> => {
  const answer = await client.post("/members", { headers, body: { query: "{ open }" } });
  return `${answer.status} ${String(word(answer.json() as Result, "open"))}`;
};

/** A subscription over a socket that speaks graphql-transport-ws: the status that refuses it, the code that closes it, or its word. */
const subscribed =
  (name: string, path = "/graphql") =>
  async (headers: Headers) => {
    try {
      const ws = await client.socket(path, { headers, protocols: ["graphql-transport-ws"] });
      ws.send(JSON.stringify({ type: "connection_init" }));
      for await (const text of ws) {
        const { type, payload } = JSON.parse(text) as { readonly type: string; readonly payload: unknown };
        if (type === "connection_ack")
          ws.send(JSON.stringify({ id: "1", type: "subscribe", payload: { query: `subscription { ${name} }` } }));
        if (type === "next") return word(payload as Result, name);
        if (type === "error") return word({ errors: payload as NonNullable<Result["errors"]> }, name);
      }
      return (await ws.closed).code;
    } catch (error) {
      if (error instanceof SocketRefused) return error.response.status;
      throw error;
    }
  };
/** A subscription over server-sent events. */
const streamed = (name: string) => async (headers: Headers) => {
  for await (const result of client.subscribe(`subscription { ${name} }`, {}, { headers })) return word(result, name);
  return "nothing";
};

/** Every form of gate. */
const forms = {
  "a route": route("/any"),
  "a route with a permission": route("/books"),
  "a route that accepts anonymous callers": route("/open"),
  "an upgrade": socket("/any-socket"),
  "an upgrade with a permission": socket("/books-socket"),
  "a graph": endpoint,
  "a field": gatedField("any"),
  "a field with a permission": gatedField("books"),
  "a batch entry": batchEntry("any"),
  "a batch entry with a permission": batchEntry("books"),
  "a subscription": subscribed("any"),
  "a subscription with a permission": subscribed("books"),
  "the socket of a gated graph": subscribed("open", "/members"),
  "a stream": streamed("any"),
  "a stream with a permission": streamed("books"),
} as const;
type Form = keyof typeof forms;

const ANONYMOUS: Readonly<Record<Form, unknown>> = {
  "a route": 401,
  "a route with a permission": 401,
  "a route that accepts anonymous callers": 200,
  "an upgrade": 401,
  "an upgrade with a permission": 401,
  "a graph": "401 UNAUTHENTICATED",
  "a field": "UNAUTHENTICATED",
  "a field with a permission": "UNAUTHENTICATED",
  "a batch entry": "UNAUTHENTICATED",
  "a batch entry with a permission": "UNAUTHENTICATED",
  "a subscription": "UNAUTHENTICATED",
  "a subscription with a permission": "UNAUTHENTICATED",
  "the socket of a gated graph": 4403,
  "a stream": "UNAUTHENTICATED",
  "a stream with a permission": "UNAUTHENTICATED",
};
/** An invalid credential is anonymous, but rejected at the upgrade of a GraphQL socket, because a client can get a new one. */
const REJECTED: Readonly<Record<Form, unknown>> = {
  ...ANONYMOUS,
  "a subscription": 401,
  "a subscription with a permission": 401,
  "the socket of a gated graph": 401,
};
const READER: Readonly<Record<Form, unknown>> = {
  "a route": 200,
  "a route with a permission": 200,
  "a route that accepts anonymous callers": 200,
  "an upgrade": 101,
  "an upgrade with a permission": 101,
  "a graph": "200 in",
  "a field": "in",
  "a field with a permission": "in",
  "a batch entry": "in",
  "a batch entry with a permission": "in",
  "a subscription": "in",
  "a subscription with a permission": "in",
  "the socket of a gated graph": "in",
  "a stream": "in",
  "a stream with a permission": "in",
};
const STRANGER: Readonly<Record<Form, unknown>> = {
  ...READER,
  "a route with a permission": 403,
  "an upgrade with a permission": 403,
  "a field with a permission": "FORBIDDEN",
  "a batch entry with a permission": "FORBIDDEN",
  "a subscription with a permission": "FORBIDDEN",
  "a stream with a permission": "FORBIDDEN",
};
const UNKNOWN: Readonly<Record<Form, unknown>> = {
  "a route": 503,
  "a route with a permission": 503,
  "a route that accepts anonymous callers": 200,
  "an upgrade": 503,
  "an upgrade with a permission": 503,
  "a graph": "503 SERVICE_UNAVAILABLE",
  "a field": "SERVICE_UNAVAILABLE",
  "a field with a permission": "SERVICE_UNAVAILABLE",
  "a batch entry": "SERVICE_UNAVAILABLE",
  "a batch entry with a permission": "SERVICE_UNAVAILABLE",
  "a subscription": 503,
  "a subscription with a permission": 503,
  "the socket of a gated graph": 503,
  "a stream": "SERVICE_UNAVAILABLE",
  "a stream with a permission": "SERVICE_UNAVAILABLE",
};

/** The matrix as documented, cell by cell. */
const documented: Readonly<Record<keyof typeof identities, Readonly<Record<Form, unknown>>>> = {
  anonymous: ANONYMOUS,
  "a reader, by token": READER,
  "a reader, by session": READER,
  "a user without the permission, by token": STRANGER,
  "a user without the permission, by session": STRANGER,
  "an expired token": REJECTED,
  "a session that has ended": REJECTED,
  "a revoked session": REJECTED,
  "a session while the store is down": UNKNOWN,
};

describe.each(Object.keys(identities))("%s", (who) => {
  let headers: Headers;
  beforeAll(async () => {
    isDown = false;
    headers = (await identities[who]?.()) ?? {};
  });
  afterAll(() => {
    isDown = false;
  });

  it.each(Object.keys(forms) as Form[])("meets the documented answer at %s", async (form) => {
    expect(await forms[form](headers)).toEqual(documented[who]?.[form]);
  });
});
