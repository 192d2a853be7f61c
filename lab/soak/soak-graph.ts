import { setTimeout as sleep } from "node:timers/promises";
import {
  connection,
  field,
  Graph,
  loader,
  mutation,
  type ObjectType,
  OperationLog,
  object,
  schema,
  subscription,
  t,
} from "../../src/graphql/index.ts";
import { Depend, Metrics, type Provider, provide, type Topic, topic } from "../../src/index.ts";
import type { CursorPagination } from "../../src/pagination/index.ts";
import { type Database, type TableHandler, type Transaction, tableHandler } from "../../src/sql/index.ts";
import type { OpenCount } from "./open-count.ts";
import type { AuthorRow, NoteRow, Tables } from "./soak-tables.ts";

/** Several times a second. */
export const ticked: Topic<number> = topic<number>("soak.ticked");
/** What a resolver throws on purpose: an error of the log that has it is none of the run. */
export const ON_PURPOSE = "thrown on purpose";

export interface GraphParts {
  readonly database: Database<Tables>;
  readonly open: OpenCount;
  readonly newest: CursorPagination<"id" | "written_at">;
  readonly directory: string;
}

/** A graph with everything that an operation can hold: loaders, transactions, files, streams. */
export function soakGraph({ database, open, newest, directory }: GraphParts): Graph {
  const desk = Depend(open.provider(() => ({ notes: () => noteList(database) })));
  const unit = Depend(unitOfWork(database, open));
  const nested = Depend(provide({ unit, desk })(({ unit: trx }) => trx));

  const authorOf = loader(async (ids: readonly string[]) => {
    const rows = await database.selectFrom("authors").selectAll().where("id", "in", ids).execute();
    return ids.map((id) => rows.find((row) => row.id === id) ?? new Error(`there is no author ${id}`));
  });
  const Author: ObjectType<AuthorRow> = object("Author", { id: t.id, name: t.string });
  const Note: ObjectType<NoteRow> = object("Note", {
    id: t.id,
    text: t.string,
    author: field(Author)(({ parent, ctx }) => authorOf.load(ctx, parent.author_id)),
    // Something to go deep by.
    next: field(() => Note)(({ parent }) => parent),
    secret: field(t.string, { auth: (user) => user.hasPermission("read:secrets") })(() => "a secret"),
  });
  const query = {
    notes: field(t.list(Note), { params: { limit: t.int(10), desk } })(({ limit }) =>
      database.selectFrom("notes").selectAll().limit(limit).execute(),
    ),
    newest: connection(Note, newest, { params: { desk } })(({ desk: { notes } }) => notes()),
    me: field(t.string, { auth: true })(({ ctx }) => ctx.user.displayName),
    slow: field(t.int, { params: { ms: t.int, desk } })(async ({ ms }) => sleep(ms, ms)),
    broken: field(t.nullable(t.int), { params: { desk } })((): number => {
      throw new Error(ON_PURPOSE);
    }),
  };
  const mutations = {
    rewrite: mutation(Note, { params: { id: t.id, text: t.string, nested }, auth: true })(({ id, text, nested: trx }) =>
      rewrite(trx, id, text),
    ),
    enter: mutation(t.int, { params: { number: t.int, text: t.string, unit } })(async ({ number, text, unit: trx }) => {
      await trx.insertInto("entries").values({ number, text }).execute();
      return number;
    }),
    rewriteAndFail: mutation(Note, { params: { id: t.id, unit }, auth: true })(async ({ id, unit: trx }) => {
      await rewrite(trx, id, "never kept");
      throw new Error(ON_PURPOSE);
    }),
    keep: mutation(t.int, { params: { file: t.upload, desk } })(async ({ file }) => {
      let bytes = 0;
      for await (const chunk of file.stream()) bytes += chunk.length;
      return bytes;
    }),
    // It is left alone until its end, because the client has hung up.
    ignore: mutation(t.int, { params: { file: t.upload, ms: t.int(0) } })(async ({ file, ms }) => sleep(ms, file.size)),
  };
  const live = {
    ticks: subscription(t.int, { params: { desk } })(async function* ({ ctx }) {
      yield* open.iterate(ctx.pubsub.subscribe(ticked));
    }),
    mine: subscription(t.int, { params: { desk }, auth: true })(async function* ({ ctx }) {
      yield* open.iterate(ctx.pubsub.subscribe(ticked));
    }),
    owner: subscription(t.string, { auth: true })(async function* ({ ctx }) {
      yield ctx.user.displayName;
    }),
    together: subscription(t.int, { shared: true })(async function* ({ ctx }) {
      yield* open.iterate(ctx.pubsub.subscribe(ticked));
    }),
    bulky: subscription(t.string, { params: { desk } })(async function* ({ ctx }) {
      for await (const n of open.iterate(ctx.pubsub.subscribe(ticked))) yield String(n).repeat(20_000);
    }),
    three: subscription(t.int)(async function* () {
      yield* open.iterate(upTo(3));
    }),
    broken: subscription(t.int)(async function* () {
      yield* open.iterate(upTo(1));
      throw new Error(ON_PURPOSE);
    }),
  };
  return new Graph(schema({ query, mutation: mutations, subscription: live }), {
    uploads: { enabled: true, maxSize: "1mb", maxFiles: 2, spillAbove: "32kb", directory },
    limits: { depth: 8, cost: 2_000 },
    transport: { maxBody: "64kb", batch: 4 },
    subscriptions: { initSeconds: 8, connectsPerMinute: 0, pauseAbove: "64kb", maxBuffered: "512kb" },
    // Checked by Graph.
    executor: (process.env["PORTICO_EXECUTOR"] ?? "portico") as "portico" | "graphql-js",
  })
    .onOperation(new Metrics())
    .onOperation(new OperationLog({ slowerThan: 60 }));
}

/** By the cursor of the route and of the connection alike. */
export function noteList(database: Database<Tables>): TableHandler<NoteRow> {
  return tableHandler(database.selectFrom("notes").selectAll());
}

/** A transaction that ends as the request does. */
export function unitOfWork(database: Database<Tables>, open: OpenCount): Provider<Transaction<Tables>> {
  return provide(async function* ({ ctx }) {
    const trx = await database.begin();
    open.opened++;
    open.dependencies++;
    try {
      yield trx;
    } finally {
      // Fails when the database is away.
      await trx.end(ctx.outcome).finally(() => open.dependencies--);
    }
  });
}

function rewrite(trx: Transaction<Tables>, id: string, text: string): Promise<NoteRow> {
  return trx.updateTable("notes").set({ text }).where("id", "=", id).returningAll().executeTakeFirstOrThrow();
}

async function* upTo(last: number): AsyncGenerator<number, void, void> {
  for (let n = 1; n <= last; n++) yield sleep(5, n);
}
