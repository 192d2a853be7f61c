import { createHash, randomUUID } from "node:crypto";
import { GraphQLError, type GraphQLSchema } from "graphql";
import { currentContext, Metrics, opentelemetry, PorticoApp, prometheus, rateLimit } from "portico";
import { AuthenticationMiddleware, SimpleUser, useAuth } from "portico/auth";
import {
  connection,
  type FieldPermission,
  field,
  Graph,
  type GraphOptions,
  GraphQLDenied,
  type InterfaceType,
  loader,
  mutation,
  type ObjectType,
  type Of,
  OperationLog,
  object,
  schema,
  subscription,
  t,
} from "portico/graphql";
import { CursorPagination } from "portico/pagination";
import { type LiveClient, liveClient, logCatcher, SocketRefused, type TestResponse } from "portico/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HeaderBackend } from "../../auth/backends/recording-backend.ts";

/** Forms of a gate times ways to one value, for each caller: 14 forms, 42 ways, two or three callers. */
const CELLS = 42 * (13 * 3 + 2);

// Another one for every cell: a late line of the log is then not taken for one of the next cell.
let secret = "";
interface BoxRow {
  readonly id: string;
  readonly secret: string;
}
const box = (): BoxRow => ({ id: "1", secret });

type Who = "nobody" | "stranger" | "reader";
const headersOf = (who: Who): Record<string, string> => (who === "nobody" ? {} : { "x-session": who });
const may = (user: { hasPermission(permission: string): boolean } | undefined): boolean =>
  user?.hasPermission("read:secrets") === true;

class MayRead implements FieldPermission {
  hasPermission(): boolean {
    return may(currentContext()?.user);
  }
}
class MayReadLater implements FieldPermission {
  async hasPermission(): Promise<boolean> {
    return may(currentContext()?.user);
  }
}
class MayReadOrThrow implements FieldPermission {
  hasPermission(): boolean {
    if (may(currentContext()?.user)) return true;
    throw new Error("the rules are away");
  }
}
// Spent by one call of anybody but the reader, who always has a count of its own.
const limit = rateLimit({ perHour: 1, key: ({ user }) => (may(user) ? randomUUID() : "the others") });

interface Form {
  /** The options of every gated field. */
  readonly options?: object;
  readonly graph?: GraphOptions;
  readonly denied: readonly Who[];
}
const STRANGERS: readonly Who[] = ["nobody", "stranger"];
const forms: Readonly<Record<string, Form>> = {
  "auth: true": { options: { auth: true }, denied: ["nobody"] },
  "a function": { options: { auth: (user: SimpleUser) => may(user) }, denied: STRANGERS },
  "an async function": { options: { auth: async (user: SimpleUser) => may(user) }, denied: STRANGERS },
  "a function of the object": {
    options: { auth: (user: SimpleUser, { ctx }: Of<unknown>) => may(user) && may(ctx.user) },
    denied: STRANGERS,
  },
  "a function that throws": {
    options: {
      auth: (user: SimpleUser) => {
        if (may(user)) return true;
        throw new Error("the rules are away");
      },
    },
    denied: STRANGERS,
  },
  "a function that rejects": {
    options: { auth: async (user: SimpleUser) => may(user) || Promise.reject(new Error("the rules are away")) },
    denied: STRANGERS,
  },
  "a function that throws a denial": {
    options: {
      auth: (user: SimpleUser) => {
        if (may(user)) return true;
        throw new GraphQLDenied("FORBIDDEN");
      },
    },
    denied: STRANGERS,
  },
  "a function that returns no boolean": {
    options: { auth: (user: SimpleUser) => may(user) || { allowed: true } },
    denied: STRANGERS,
  },
  "a permission class": { options: { permissionClasses: [MayRead] }, denied: STRANGERS },
  "an async permission class": { options: { permissionClasses: [MayReadLater] }, denied: STRANGERS },
  "a permission class that throws": { options: { permissionClasses: [new MayReadOrThrow()] }, denied: STRANGERS },
  "auth and a permission class": { options: { auth: true, permissionClasses: [MayRead] }, denied: STRANGERS },
  "a spent limit": { options: { limit }, denied: STRANGERS },
  "useAuth of the endpoint": { graph: { auth: useAuth({ permissions: ["read:secrets"] }) }, denied: STRANGERS },
};

const trusted = { box: "{ box { secret } }" };

/** A schema with every gated field that leads to the secret. */
function build(options: object): GraphQLSchema {
  const text = t.nullable(t.string);
  const property = (): never => field(text, options) as never;
  const Locked: InterfaceType<BoxRow> = t.interface(
    "Locked",
    { id: t.id, secret: property() },
    { resolveType: () => "Safe" },
  );
  const Safe: ObjectType<BoxRow> = object("Safe", {}, { implements: [Locked] });
  class Crate {
    readonly id = "1";
    readonly secret = secret;
    computed(): string {
      return this.secret;
    }
  }
  const decorate = (key: "secret" | "computed"): void =>
    (field(text, options) as (...given: unknown[]) => void)(
      Crate.prototype,
      key,
      Object.getOwnPropertyDescriptor(Crate.prototype, key),
    );
  decorate("secret");
  decorate("computed");
  const values = loader((keys: readonly string[]) => keys.map(() => secret));
  const Box: ObjectType<BoxRow> = object("Box", {
    id: t.id,
    secret: property(),
    again: field(text, options)(({ parent }) => parent.secret),
    renamed: field(text, { ...options, name: "other" })(({ parent }) => parent.secret),
    strict: field(t.string, options)(({ parent }) => parent.secret),
    withArgs: field(text, { ...options, params: { n: t.int(1) } })(({ parent }) => parent.secret),
    loaded: field(text, options)(({ ctx, parent }) => values.load(ctx, parent.id)),
    size: field(t.int)(async ({ ctx, parent }) => (await values.load(ctx, parent.id)).length),
    self: field(() => Box, options)(({ parent }) => parent),
    fails: field(
      text,
      options,
    )(({ parent }) => {
      throw new Error(parent.secret);
    }),
    refuses: field(
      text,
      options,
    )(({ parent }) => {
      throw new GraphQLError(parent.secret);
    }),
    misfit: field(t.nullable(t.int), options)(({ parent }) => parent.secret as never),
  });
  const Any = t.union("Any", [Box, Safe], { resolveType: () => "Box" });
  const byId = new CursorPagination();
  return schema({
    query: {
      secret: field(text, options)(() => secret),
      box: field(Box)(box),
      safe: field(Safe)(box),
      locked: field(Locked)(box),
      any: field(Any)(box),
      crate: field(() => Crate)(() => new Crate()),
      boxes: field(t.list(Box))(() => [box(), box()]),
      shelf: connection(Box, byId)(() => [box()]),
      gatedShelf: connection(Safe, byId, options)(() => [{ id: secret, secret }]),
    },
    mutation: {
      open: mutation(text, options)(() => secret),
      move: mutation(Box)(box),
    },
    subscription: {
      secret: subscription(
        t.string,
        options,
      )(async function* () {
        yield secret;
      }),
      boxes: subscription(Box)(async function* () {
        yield box();
      }),
    },
    types: [Box],
  });
}

interface Call {
  readonly path: string;
  readonly headers: Record<string, string>;
}
/** Takes the way and gives all that came back. */
type Way = (call: Call) => Promise<string>;

const log = logCatcher();
const hook = prometheus();
const metrics = new Metrics();
const spans: unknown[] = [];
const tracer = {
  startSpan: (...span: unknown[]) => {
    spans.push(span);
    return {
      end: () => {},
      setAttributes: (attributes: object) => spans.push(attributes),
      updateName: (name: string) => spans.push(name),
    };
  },
};
const observed = (): string => hook.text() + JSON.stringify([metrics.snapshot(), spans]);

let client: LiveClient;
beforeAll(async () => {
  const userModel = {
    loadUser: async (name: string) => new SimpleUser(name, name === "reader" ? ["read:secrets"] : []),
  };
  const app = new PorticoApp({ logger: log }).use(
    new AuthenticationMiddleware({ userModel, backend: new HeaderBackend("session") }),
  );
  Object.values(forms).forEach(({ options = {}, graph = {} }, at) => {
    for (const debug of [false, true])
      new Graph(build(options), {
        path: debug ? `/${at}/debug` : `/${at}`,
        debug,
        transport: { batch: 3 },
        documents: { trusted, automatic: true },
        subscriptions: { connectsPerMinute: 0, operations: true },
        uploads: { enabled: true },
        ...graph,
      })
        .onOperation(hook)
        .onOperation(metrics)
        .onOperation(opentelemetry(tracer))
        .onOperation(new OperationLog({ slowerThan: 0, trace: true }))
        .mount(app);
  });
  new Graph(buildSorted(), { path: "/sorted" }).mount(app);
  client = await liveClient(app);
});
afterAll(() => client.close());

const textOf = (response: TestResponse): string =>
  `${response.status} ${JSON.stringify(response.headers)} ${response.text()}`;
const posting =
  (body: unknown, at = ""): Way =>
  async ({ path, headers }) =>
    textOf(await client.post(path + at, { headers, body }));
const asking = (query: string): Way => posting({ query });

/** Every message of a socket until the operation is over, or the code that closed it. */
const talking =
  (query: string): Way =>
  async ({ path, headers }) => {
    let heard = "";
    try {
      const socket = await client.socket(path, { headers, protocols: ["graphql-transport-ws"] });
      socket.send(JSON.stringify({ type: "connection_init" }));
      for await (const text of socket) {
        heard += text;
        const { type } = JSON.parse(text) as { readonly type: string };
        if (type === "connection_ack") socket.send(JSON.stringify({ id: "1", type: "subscribe", payload: { query } }));
        if (type === "complete" || type === "error") socket.close();
      }
      return heard + JSON.stringify(await socket.closed);
    } catch (error) {
      if (error instanceof SocketRefused) return heard + textOf(error.response);
      throw error;
    }
  };
const streaming =
  (query: string): Way =>
  async ({ path, headers }) =>
    textOf(await client.post(path, { headers: { ...headers, accept: "text/event-stream" }, body: { query } }));

const AGAIN = "query Again { box { again } }";
const sha256Hash = createHash("sha256").update(AGAIN).digest("hex");
const persisted = { extensions: { persistedQuery: { version: 1, sha256Hash } } };

const ways: Readonly<Record<string, Way>> = {
  "a root field": asking("{ secret }"),
  "a property": asking("{ box { secret } }"),
  "a resolver": asking("{ box { again } }"),
  "a field with another name": asking("{ box { other } }"),
  "a field that is not nullable": asking("{ box { strict } }"),
  "a field with arguments": asking("{ box { withArgs(n: 3) } }"),
  "a loader that an open field uses as well": asking("{ box { size loaded } }"),
  "a gated object": asking("{ box { self { id size secret } } }"),
  "a member of a class": asking("{ crate { secret } }"),
  "a method of a class": asking("{ crate { computed } }"),
  "a field inherited from an interface": asking("{ safe { secret } }"),
  "an interface": asking("{ locked { secret } }"),
  "a union": asking("{ any { ... on Box { secret } } }"),
  "an interface of a union": asking("{ any { ... on Locked { secret } ... on Box { secret } } }"),
  "an alias": asking("{ box { id: secret } }"),
  "two aliases": asking("{ a: box { x: secret y: secret } b: box { x: secret } }"),
  "a fragment": asking("{ box { ...F } } fragment F on Box { secret }"),
  "an inline fragment": asking("{ ... { box { ... on Box { secret } } } }"),
  "a directive": posting({
    query: "query ($yes: Boolean!) { box { secret @include(if: $yes) } }",
    variables: { yes: true },
  }),
  "a list": asking("{ boxes { id secret } }"),
  "the nodes of a connection": asking("{ shelf(first: 1) { nodes { secret } } }"),
  "the edges of a connection": asking("{ shelf(last: 1) { edges { cursor node { secret } } pageInfo { endCursor } } }"),
  "a gated connection": asking("{ gatedShelf { nodes { id } edges { cursor node { id } } } }"),
  "a mutation": asking("mutation { open }"),
  "the result of a mutation": asking("mutation { move { secret } }"),
  "a batch": posting([{ query: "{ box { id } }" }, { query: "{ box { secret } }" }, { query: "{ secret }" }]),
  GET: async ({ path, headers }) =>
    textOf(await client.get(path, { headers, query: { query: "query Got { box { secret } }" } })),
  "a form": async ({ path, headers }) => {
    const body = new FormData();
    body.set("operations", JSON.stringify({ query: "{ box { secret } }" }));
    body.set("map", "{}");
    return textOf(await client.post(path, { headers: { ...headers, "graphql-require-preflight": "1" }, body }));
  },
  "a trusted document": posting({ documentId: "box" }),
  "a persisted document": async ({ path, headers }) => {
    const registered = await client.post(path, { headers, body: { query: AGAIN, ...persisted } });
    return textOf(registered) + textOf(await client.post(path, { headers, body: persisted }));
  },
  "a query over a socket": talking("{ box { secret } }"),
  "a mutation over a socket": talking("mutation { open }"),
  "a subscription over a socket": talking("subscription { secret }"),
  "the event of a subscription over a socket": talking("subscription { boxes { secret } }"),
  "a query over a stream of events": streaming("{ box { secret } }"),
  "a subscription over a stream of events": streaming("subscription { secret }"),
  "the event of a subscription over a stream of events": streaming("subscription { boxes { secret } }"),
  "an error that is sent": asking("{ box { refuses } }"),
  "debug: an error that is sent": posting({ query: "{ box { fails } }" }, "/debug"),
};

/** The ways on which the log tells the value, to those alone who may see it: an unexpected error has it in its message. */
const logged: Readonly<Record<string, Way>> = {
  "an error that is masked": asking("{ box { fails } }"),
  "a value that does not fit its type": asking("{ box { misfit } }"),
  "debug: a value that does not fit its type": posting({ query: "{ box { misfit } }" }, "/debug"),
};
const mayLog = new Set([...Object.keys(logged), "debug: an error that is sent", "an error that is sent"]);
const all = { ...ways, ...logged };

/** Whether the value is in a text, as it is or in something that base64 or hexadecimal digits encode. */
function shows(text: string, value: string): boolean {
  if (text.includes(value)) return true;
  return (text.match(/[\w+/=-]{16,}/g) ?? []).some((word) =>
    (["base64url", "hex"] as const).some((encoding) => Buffer.from(word, encoding).includes(value)),
  );
}

/** Lists that are ordered by a gated column: their cursors hold its value, of a text and of a number, in encrypted form. */
function buildSorted(): GraphQLSchema {
  const Paid: ObjectType<BoxRow & { readonly salary: number }> = object("Paid", {
    id: t.id,
    secret: field(t.nullable(t.string), { auth: true }) as never,
    salary: field(t.nullable(t.float), { auth: true }) as never,
  });
  const rows = (): (BoxRow & { readonly salary: number })[] => [{ ...box(), salary: SALARY }];
  return schema({
    query: {
      bySecret: connection(Paid, new CursorPagination({ order: [["secret", "asc"]] }))(rows),
      bySalary: connection(Paid, new CursorPagination({ order: [["salary", "desc"]] }))(rows),
    },
  });
}
const SALARY = 91_234.5;
const salaryBytes = Buffer.alloc(8);
salaryBytes.writeDoubleBE(SALARY);

let covered = 0;
let cell = 0;

describe.each(Object.entries(forms))("%s", (form, { denied }) => {
  const path = `/${Object.keys(forms).indexOf(form)}`;
  const take = async (way: Way, who: Who): Promise<Readonly<Record<"sent" | "log" | "observed", boolean>>> => {
    secret = `the secret of cell ${cell++}, and of no other`;
    log.clear();
    spans.length = 0;
    const sent = await way({ path, headers: headersOf(who) });
    covered++;
    return { sent: shows(sent, secret), log: shows(log.text, secret), observed: shows(observed(), secret) };
  };

  // The limit is spent before anything else, on a value that no earlier cell has logged.
  beforeAll(() => {
    secret = "";
    return asking("{ secret }")({ path, headers: {} });
  });

  it.each(Object.entries(all))(
    "hides the value from callers without access, and shows it to the others: %s",
    async (name, way) => {
      for (const who of denied) expect(await take(way, who), who).toEqual({ sent: false, log: false, observed: false });

      const { sent, log: isLogged, observed: isObserved } = await take(way, "reader");
      expect(sent || (mayLog.has(name) && isLogged)).toBe(true);
      expect(isLogged && !mayLog.has(name)).toBe(false);
      expect(isObserved).toBe(false);
    },
  );
});

it("covers 1,722 cases: every form of a gate, every way to the value, every caller", () => {
  expect(covered).toBe(CELLS);
});

// Passes once cursors are encrypted.
it.each(["nobody", "stranger", "reader"] as const)(
  "cursors do not reveal the column that they are sorted by: %s",
  async (who) => {
    secret = "the secret that a list is ordered by";
    const page = "{ edges { cursor } pageInfo { startCursor endCursor } }";
    const response = await client.post("/sorted", {
      headers: headersOf(who),
      body: { query: `{ bySecret ${page} bySalary ${page} }` },
    });

    const cursors = (response.text().match(/(?<=ursor":")[^"]+/g) ?? []).map((cursor) =>
      Buffer.from(cursor, "base64url"),
    );
    expect(cursors).toHaveLength(6);
    expect(shows(textOf(response), secret)).toBe(false);
    for (const cursor of cursors) {
      const bytes = cursor.toString("latin1");
      for (const value of [
        secret,
        String(SALARY),
        salaryBytes.toString("latin1"),
        Buffer.from(salaryBytes).reverse().toString("latin1"),
      ])
        expect(bytes).not.toContain(value);
    }
  },
);
