import { AnonymousUser, type KeyValueStore, memoryStores, PorticoApp } from "portico";
import { AuthenticationMiddleware, SessionAuthBackend, SessionMiddleware, SimpleUser, useAuth } from "portico/auth";
import { field, Graph, mutation, schema, t } from "portico/graphql";
import { liveClient, logCatcher, type TestClient, testClient } from "portico/testing";
import { describe, expect, it, vi } from "vitest";
import { overBoth } from "../../matrix.ts";
import { signIn } from "../../sign-in.ts";
import { HeaderBackend } from "../backends/recording-backend.ts";

const graph = schema({
  query: {
    open: field(t.boolean)(({ ctx }) => ctx.user instanceof AnonymousUser),
    me: field(t.nullable(t.string), { auth: true })(({ ctx }) => ctx.user.identity),
    books: field(t.nullable(t.string), { auth: (user) => user.hasPermission("read:books") })(() => "Emma"),
  },
});
const userModel = { loadUser: async (name: string) => new SimpleUser(name, name === "reader" ? ["read:books"] : []) };
const app = (): PorticoApp => {
  const made = new PorticoApp({ logger: false }).use(
    new AuthenticationMiddleware({ userModel, backend: new HeaderBackend("session") }),
  );
  new Graph(graph).mount(made);
  return made;
};
interface Answer {
  readonly data: unknown;
  readonly errors?: readonly { readonly path: readonly string[]; readonly extensions: { readonly code: string } }[];
}
async function ask(
  client: TestClient,
  headers: Record<string, string> = {},
  query = "{ open me books }",
): Promise<{ status: number; data: unknown; codes: Record<string, string> }> {
  const answer = await client.post("/graphql", { body: { query }, headers });
  const { data, errors = [] } = answer.json() as Answer;
  return {
    status: answer.status,
    data,
    codes: Object.fromEntries(errors.map((error) => [error.path.join("."), error.extensions.code])),
  };
}

overBoth("[GAT-01] a field sees the caller that the middleware found, as a route does", app, async (client) => {
  expect(await ask(client, { "x-session": "reader" })).toEqual({
    status: 200,
    data: { open: false, me: "reader", books: "Emma" },
    codes: {},
  });
  expect(await ask(client, { "x-session": "stranger" })).toEqual({
    status: 200,
    data: { open: false, me: "stranger", books: null },
    codes: { books: "FORBIDDEN" },
  });
  expect(await ask(client)).toEqual({
    status: 200,
    data: { open: true, me: null, books: null },
    codes: { me: "UNAUTHENTICATED", books: "UNAUTHENTICATED" },
  });
});

it("a gate is called again after a mutation of the same operation has signed in another user", async () => {
  const made = new PorticoApp({ logger: false })
    .use(new SessionMiddleware({ secret: "a secret of the tests, which is long enough" }))
    .use(new AuthenticationMiddleware({ userModel, backend: new HeaderBackend("session") }));
  const signIn = mutation(t.string, { params: { name: t.string } })(async ({ name, ctx }) => {
    await ctx.request.sessions.login(new SimpleUser(name));
    return ctx.user.identity;
  });
  const read = { auth: (user: { hasPermission(name: string): boolean }) => user.hasPermission("read:books") };
  const books = mutation(t.nullable(t.string), read)(({ ctx }) => `Emma, for ${ctx.user.identity}`);
  const query = { open: field(t.boolean)(() => true) };
  new Graph(schema({ query, mutation: { signIn, books } })).mount(made);

  const document = 'mutation { before: books signIn(name: "stranger") after: books }';

  expect(await ask(testClient(made), { "x-session": "reader" }, document)).toEqual({
    status: 200,
    data: { before: "Emma, for reader", signIn: "stranger", after: null },
    codes: { after: "FORBIDDEN" },
  });
});

it("a gate that returns neither true nor false denies access, and logs a warning once outside production", async () => {
  const said = async (): Promise<readonly string[]> => {
    const log = logCatcher();
    const made = new PorticoApp({ logger: log }).use(
      new AuthenticationMiddleware({ userModel, backend: new HeaderBackend("session") }),
    );
    const answers = { auth: ((): string => "yes") as never };
    const later = { auth: (async (): Promise<object> => ({})) as never };
    const no = { auth: (): boolean => false };
    const query = {
      a: field(t.nullable(t.int), answers)(() => 1),
      b: field(t.nullable(t.int), later)(() => 1),
      c: field(t.nullable(t.int), no)(() => 1),
    };
    new Graph(schema({ query })).mount(made);
    const client = testClient(made);
    for (let times = 0; times < 2; times++)
      expect(await ask(client, { "x-session": "ann" }, "{ a b c }")).toMatchObject({
        codes: { a: "FORBIDDEN", b: "FORBIDDEN", c: "FORBIDDEN" },
      });
    return log.lines.filter(({ msg }) => msg.startsWith("a gate returned neither")).map(({ gate }) => String(gate));
  };

  expect((await said()).toSorted()).toEqual(["auth", "auth"]);
  vi.stubEnv("NODE_ENV", "production");
  expect(await said()).toEqual([]);
  vi.unstubAllEnvs();
});

it("[GAT-02] [GAT-03] [auth:AU-171] without authentication the caller is anonymous, and a gated field is rejected", async () => {
  const bare = new PorticoApp({ logger: false });
  new Graph(graph).mount(bare);

  expect(await ask(testClient(bare))).toEqual({
    status: 200,
    data: { open: true, me: null, books: null },
    codes: { me: "UNAUTHENTICATED", books: "UNAUTHENTICATED" },
  });
});

it("[GAT-04] returns SERVICE_UNAVAILABLE on gated fields while the caller is unknown", async () => {
  expect(await ask(testClient(app()), { "x-session": "!" })).toEqual({
    status: 200,
    data: { open: true, me: null, books: null },
    codes: { me: "SERVICE_UNAVAILABLE", books: "SERVICE_UNAVAILABLE" },
  });
});

it("rejects the whole endpoint by its gate, with a GraphQL error", async () => {
  const made = new PorticoApp({ logger: false }).use(
    new AuthenticationMiddleware({ userModel, backend: new HeaderBackend("session") }),
  );
  new Graph(graph, { auth: useAuth({ permissions: ["read:books"] }) }).mount(made);
  const client = testClient(made);

  const answers = await Promise.all(
    [{}, { "x-session": "stranger" }, { "x-session": "!" }, { "x-session": "reader" }].map((headers) =>
      client.post("/graphql", { body: { query: "{ me }" }, headers }),
    ),
  );

  expect(answers.map(({ status }) => status)).toEqual([401, 403, 503, 200]);
  expect(answers[0]?.headers["www-authenticate"]).toBe('SESSION realm="test"');
  expect(answers[0]?.json()).toMatchObject({ errors: [{ extensions: { code: "UNAUTHENTICATED" } }] });
});

describe("a callable gate", () => {
  const asked: unknown[] = [];
  const gates = {
    no: (user: { readonly identity: string }): boolean => {
      asked.push(user.identity);
      return false;
    },
    throws: (): boolean => {
      asked.push("throws");
      throw new Error("this gate is broken");
    },
    rejects: async (): Promise<boolean> => {
      asked.push("rejects");
      throw new Error("this gate is broken, later");
    },
  };
  const built = schema({
    query: {
      open: field(t.int)(() => 1),
      no: field(t.nullable(t.string), { auth: gates.no })(() => "in"),
      throws: field(t.nullable(t.string), { auth: gates.throws })(() => "in"),
      rejects: field(t.nullable(t.string), { auth: gates.rejects })(() => "in"),
    },
  });
  const query = "{ open no throws rejects }";
  const log = logCatcher();
  const gated = (): PorticoApp => {
    asked.length = 0;
    log.clear();
    const made = new PorticoApp({ logger: log }).use(
      new AuthenticationMiddleware({ userModel, backend: new HeaderBackend("session") }),
    );
    new Graph(built).mount(made);
    return made;
  };
  const everywhere = (code: string): Record<string, string> => ({ no: code, throws: code, rejects: code });

  overBoth("[auth:AU-172] that throws or rejects says no, and the log says why", gated, async (client) => {
    expect(await ask(client, { "x-session": "reader" }, query)).toEqual({
      status: 200,
      data: { open: 1, no: null, throws: null, rejects: null },
      codes: everywhere("FORBIDDEN"),
    });
    expect(new Set(asked)).toEqual(new Set(["reader", "rejects", "throws"]));
    expect(log.text).toContain("this gate is broken");
    expect(log.text).toContain("this gate is broken, later");
  });

  overBoth("[auth:AU-195] is not called for anonymous and unknown callers", gated, async (client) => {
    expect((await ask(client, {}, query)).codes).toEqual(everywhere("UNAUTHENTICATED"));
    expect((await ask(client, { "x-session": "!" }, query)).codes).toEqual(everywhere("SERVICE_UNAVAILABLE"));
    expect(asked).toEqual([]);
  });
});

describe("a graph and sessions", () => {
  const SECRET = "a secret of the tests, which is long enough";
  let deleted = 0;
  const shop = schema({
    query: {
      open: field(t.int)(() => 1),
      me: field(t.nullable(t.string), { auth: true })(({ ctx }) => ctx.user.identity),
    },
    mutation: {
      remove: mutation(t.nullable(t.int), { auth: true })(() => ++deleted),
      send: mutation(t.int, { params: { file: t.upload } })(() => ++deleted),
    },
  });
  const sessionShop = (durable: KeyValueStore = memoryStores().durable): PorticoApp => {
    deleted = 0;
    const made = new PorticoApp({ logger: false, stores: { ...memoryStores(), durable } })
      .use(new SessionMiddleware({ secret: SECRET }))
      .use(new AuthenticationMiddleware({ userModel, backend: new SessionAuthBackend() }))
      .post("/login", ({ request }) => request.sessions.login(new SimpleUser("reader")));
    new Graph(shop, { uploads: { enabled: true } }).mount(made);
    return made;
  };

  it("[graphql:F16] a gated field returns SERVICE_UNAVAILABLE while the session store is down", async () => {
    const { durable } = memoryStores();
    const client = await liveClient(sessionShop(durable));
    const { cookie } = await signIn(client);
    const before = await ask(client, { cookie }, "{ open me }");

    vi.spyOn(durable, "get").mockRejectedValue(new Error("the store is down"));
    const down = await ask(client, { cookie }, "{ open me }");
    await client.close();

    expect(before).toEqual({ status: 200, data: { open: 1, me: "reader" }, codes: {} });
    expect(down).toEqual({ status: 200, data: { open: 1, me: null }, codes: { me: "SERVICE_UNAVAILABLE" } });
  });

  it("[auth:AU-166] a cookie is not accepted for a mutation by GET, nor for an upload from another origin", async () => {
    const client = await liveClient(sessionShop());
    const { cookie } = await signIn(client);
    const origin = client.url;
    const byGet = await client.get("/graphql", {
      query: { query: "mutation { remove }" },
      headers: { cookie, origin, "sec-fetch-site": "same-origin" },
    });
    const part = (name: string, body: string, rest = ""): string =>
      `--x\r\ncontent-disposition: form-data; name="${name}"${rest}\r\n\r\n${body}\r\n`;
    const operations = JSON.stringify({
      query: "mutation ($file: Upload!) { send(file: $file) }",
      variables: { file: null },
    });
    const body = `${part("operations", operations)}${part("map", '{"0":["variables.file"]}')}${part("0", "text", '; filename="a.txt"')}--x--\r\n`;
    const upload = (headers: Record<string, string>): Promise<{ readonly status: number }> =>
      client.post("/graphql", {
        body,
        headers: { "content-type": "multipart/form-data; boundary=x", cookie, ...headers },
      });
    const foreign = await upload({ origin: "https://evil.example", "sec-fetch-site": "cross-site" });
    const own = await upload({ origin, "sec-fetch-site": "same-origin" });
    await client.close();

    expect([byGet.status, foreign.status, own.status, deleted]).toEqual([405, 403, 200, 1]);
  });
});
