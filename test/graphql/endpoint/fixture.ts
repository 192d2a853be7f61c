import { Depend, PorticoApp, type PorticoAppOptions } from "portico";
import {
  field,
  Graph,
  type GraphOptions,
  mutation,
  type ObjectType,
  object,
  schema,
  subscription,
  t,
} from "portico/graphql";
import { type LiveClient, type LogCatcher, liveClient, logCatcher } from "portico/testing";

/** Counts what ran, for what must not have. */
export interface Ran {
  [field: string]: number;
}

/** Counts what the fields that do something depend on, for what must not stay open. */
export interface Leases {
  opened: number;
  closed: number;
}

interface Node {
  readonly id: string;
}
const NODES: readonly Node[] = [{ id: "1" }, { id: "2" }];

/** The schema at the top of `spec/corpus/graphql.md`. */
export function fixtureSchema(ran: Ran = {}, leases: Leases = { opened: 0, closed: 0 }): ReturnType<typeof schema> {
  const note = (name: string): void => {
    ran[name] = (ran[name] ?? 0) + 1;
  };
  const lease = Depend(function* () {
    leases.opened++;
    try {
      yield leases;
    } finally {
      leases.closed++;
    }
  });
  const listSize = { argument: "first", max: 100 } as const;
  const In = t.input("In", { s: t.nullable(t.string) });
  const A: ObjectType<Node> = object("A", {
    id: t.nullable(t.id),
    a: field(t.nullable(() => A))(() => ({ id: "a" })),
    list: field(
      t.list(() => A),
      { params: { first: t.arg(t.nullable(t.int), { default: 2 }) }, listSize },
    )(() => NODES),
    plain: field(t.list(() => A))(() => NODES),
  });
  const args = { x: t.nullable(t.json), s: t.nullable(t.string), i: t.nullable(t.int), o: t.nullable(In) };
  return schema({
    query: {
      hello: field(t.nullable(t.string), { params: { lease } })(() => {
        note("hello");
        return "world";
      }),
      a: field(t.nullable(A))(() => ({ id: "a" })),
      list: field(t.list(A), { params: { first: t.arg(t.nullable(t.int), { default: 2 }) }, listSize })(() => NODES),
      plain: field(t.list(A))(() => NODES),
      echo: field(t.nullable(t.string), { params: { ...args, lease } })(({ x, s, i, o }) => {
        note("echo");
        return JSON.stringify({ x, s, i, o });
      }),
      boom: field(t.nullable(t.string), { params: { lease } })(() => {
        note("boom");
        throw new Error("secret db at 10.0.0.1");
      }),
      secret: field(t.nullable(t.string), { auth: true })(() => "secret"),
    },
    mutation: {
      login: mutation(t.nullable(t.boolean), { params: { p: t.nullable(t.string), lease } })(({ p }) => {
        note("login");
        return p === "right";
      }),
      up: mutation(t.nullable(t.string), {
        params: { f: t.nullable(t.upload), fs: t.nullable(t.list(t.nullable(t.upload))), lease },
      })(async ({ f, fs }) => {
        note("up");
        const files = [f, ...(fs ?? [])].filter((file) => file !== null);
        const read = files.map(
          async (file) => `${file.filename}:${file.contentType}:${(await new Response(file.stream()).bytes()).length}`,
        );
        return (await Promise.all(read)).join(",");
      }),
    },
    subscription: {
      tick: subscription(t.nullable(t.int), { params: { n: t.nullable(t.int) } })(async function* ({ n }) {
        note("tick");
        for (let i = 1; i <= (n ?? 1); i++) yield i;
      }),
      deep: subscription(t.nullable(A))(async function* () {
        yield { id: "deep" };
      }),
    },
  });
}

export interface Served {
  readonly client: LiveClient;
  readonly log: LogCatcher;
  readonly ran: Ran;
}

/** The fixture, served over a real socket. */
export async function serveFixture(options: GraphOptions = {}, appOptions: PorticoAppOptions = {}): Promise<Served> {
  const [log, ran]: [LogCatcher, Ran] = [logCatcher(), {}];
  const app = new PorticoApp({ logger: log, ...appOptions });
  new Graph(fixtureSchema(ran), options).mount(app);
  return { client: await liveClient(app), log, ran };
}
