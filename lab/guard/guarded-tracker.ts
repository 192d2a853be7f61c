import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { AuthenticationBackend, AuthenticationMiddleware, AuthResult, SimpleUser } from "../../src/auth/index.ts";
import {
  connection,
  field,
  Graph,
  loader,
  mutation,
  type ObjectType,
  object,
  schema,
  subscription,
  t,
} from "../../src/graphql/index.ts";
import { isEqual, isIn, NotFound, PorticoApp, type PorticoRequest, rule, topic } from "../../src/index.ts";
import { CursorPagination, PageNumberPagination } from "../../src/pagination/index.ts";
import {
  type Database,
  type DatabaseOptions,
  type Guard,
  openDatabase,
  type TableHandler,
  tableHandler,
  totalsCache,
  transaction,
} from "../../src/sql/index.ts";
import { waysAround } from "../servers/ways-around.ts";

export interface TrackerTables {
  memberships: { user_id: string; org: string };
  projects: { id: string; org: string; name: string };
  tickets: { id: string; project_id: string; org: string; title: string; votes: number };
  comments: { id: string; ticket_id: string; body: string };
  countries: { code: string };
}
type TrackerTable = keyof TrackerTables;
type Row<T extends TrackerTable> = TrackerTables[T];

const member = (identity: string) =>
  isIn("org", { from: "memberships", column: "org", where: isEqual("user_id", identity) });
const inOrganisation = rule<{ org: string }>({
  name: "organisation",
  says: "members of the organisation",
  allows: () => true,
  where: ({ identity }) => member(identity),
});
const inTicket = rule<{ ticket_id: string }>({
  name: "ticket",
  says: "members of the ticket's organisation",
  allows: () => true,
  where: ({ identity }) => isIn("ticket_id", { from: "tickets", column: "id", where: member(identity) }),
});

/** Opens the tables of the tracker with their rules. */
export function openTracker(
  url: string,
  options: Partial<DatabaseOptions<TrackerTables>> = {},
): Database<TrackerTables> {
  return openDatabase<TrackerTables>(url, {
    poolSize: 12,
    guard: {
      memberships: { read: inOrganisation, write: "closed" },
      projects: { read: inOrganisation, write: inOrganisation },
      tickets: { read: inOrganisation, write: inOrganisation },
      comments: { read: inTicket, write: inTicket },
      countries: "open",
    },
    ...options,
  });
}

/** A guard without rules. */
export const OPEN: Guard<TrackerTables> = {
  memberships: "open",
  projects: "open",
  tickets: "open",
  comments: "open",
  countries: "open",
};

export async function createTracker(database: Database<any>): Promise<void> {
  for (const text of [
    "create table memberships (user_id text not null, org text not null)",
    "create table projects (id text primary key, org text not null, name text not null)",
    "create table tickets (id text primary key, project_id text not null, org text not null, title text not null, votes integer not null)",
    "create table comments (id text primary key, ticket_id text not null, body text not null)",
    "create table countries (code text)",
  ])
    await sql.raw(text).execute(database);
}

/** Takes the identity from a header. */
class HeaderBackend extends AuthenticationBackend {
  readonly scope = "apikey" as const;
  override carries(request: PorticoRequest): boolean {
    return request.headers["x-user"] !== undefined;
  }
  async authenticate(request: PorticoRequest): Promise<AuthResult> {
    const name = request.headers["x-user"];
    return name === undefined ? AuthResult.decline() : AuthResult.accept(name, this.scope);
  }
}

class Person extends SimpleUser {
  static override async loadUser(identity: string): Promise<Person> {
    return new Person(identity);
  }
}

const pages = { defaultPageSize: 4, maxPageSize: 30, totals: "exact" } as const;
const byName: CursorPagination<"name"> = new CursorPagination({ order: [["name", "asc"]], ...pages });
const byTitle: CursorPagination<"title"> = new CursorPagination({
  order: [["title", "desc"]],
  ...pages,
});
const byNumber = new PageNumberPagination({ defaultPageSize: 5, totals: "exact" });
const ticketChanged = topic<string>("guarded-tracker.ticket");

/** A tracker for several tenants, none of whose handlers checks anything: only the guard of the database keeps them apart. */
export function guardedTracker(database: Database<TrackerTables>): PorticoApp {
  const system = database.asSystem("the number of all projects, for a loader");
  const trx = transaction(database);
  const counts = totalsCache({ seconds: 60 });
  const rowsOf = <T extends "projects" | "tickets" | "comments">(table: T) =>
    database.current().selectFrom(table).selectAll() as any;
  const list = <T extends "projects" | "tickets" | "comments">(table: T, isCached = false) =>
    tableHandler(rowsOf(table), (isCached ? { totalsCache: counts } : {}) as never) as unknown as TableHandler<Row<T>>;
  // One handler for all requests.
  const everyTicket = tableHandler(database.selectFrom("tickets").selectAll());
  const byId = <T extends "projects" | "tickets" | "comments">(table: T) =>
    loader(async (ids: readonly string[]) => {
      const rows: readonly Row<T>[] = await rowsOf(table).where("id", "in", ids).execute();
      return ids.map((id) => rows.find((row) => row.id === id) ?? null);
    });
  const [projectById, ticketById, commentById] = [byId("projects"), byId("tickets"), byId("comments")];
  const isThere = loader(async (ids: readonly string[]) => {
    const rows = await system.selectFrom("tickets").select("id").where("id", "in", ids).execute();
    return ids.map((id) => rows.some((row) => row.id === id));
  });
  const Comment: ObjectType<Row<"comments">> = object("Comment", { id: t.id, body: t.string });
  const Ticket: ObjectType<Row<"tickets">> = object("Ticket", {
    id: t.id,
    title: t.string,
    votes: t.int,
    project: field(t.nullable(t.ref<Row<"projects">>("Project")))(({ parent, ctx }) =>
      projectById.load(ctx, parent.project_id),
    ),
    comments: connection(() => Comment, new CursorPagination({ order: [["body", "asc"]], ...pages }), {
      parent: { ticket_id: "id" },
    })(() => list("comments")),
  });
  const Project: ObjectType<Row<"projects">> = object("Project", {
    id: t.id,
    name: t.string,
    tickets: connection(() => Ticket, byTitle, { parent: { project_id: "id" } })(() => list("tickets")),
    all: field(t.list(Ticket))(() => rowsOf("tickets").orderBy("title").limit(20).execute()),
  });

  const query = {
    projects: connection(Project, byName)(() => list("projects", true)),
    tickets: connection(Ticket, byTitle)(() => everyTicket),
    project: field(t.nullable(Project), { params: { id: t.id } })(({ id, ctx }) => projectById.load(ctx, id)),
    ticket: field(t.nullable(Ticket), { params: { id: t.id } })(({ id, ctx }) => ticketById.load(ctx, id)),
    comment: field(t.nullable(Comment), { params: { id: t.id } })(({ id, ctx }) => commentById.load(ctx, id)),
    // A loader without rules, before one with them.
    isThere: field(t.boolean, { params: { id: t.id } })(async ({ id, ctx }) => {
      const before = await isThere.load(ctx, id);
      return before && (await ticketById.load(ctx, id)) !== null;
    }),
    ticketsById: field(t.list(t.nullable(Ticket)), { params: { ids: t.list(t.id) }, listSize: 5 })(({ ids, ctx }) =>
      Promise.all(ids.map((id) => ticketById.load(ctx, id))),
    ),
  };
  const edits = {
    edit: mutation(t.nullable(Ticket), { params: { id: t.id, title: t.string, trx } })(
      async ({ id, title, trx, ctx }) => {
        const row = await trx
          .updateTable("tickets")
          .set({ title })
          .where("id", "=", id)
          .returningAll()
          .executeTakeFirst();
        await ctx.pubsub.publish(ticketChanged, id);
        ticketById.clear(ctx, id);
        return row ?? null;
      },
    ),
    move: mutation(t.nullable(Ticket), { params: { id: t.id, project: t.id, org: t.string, trx } })(
      async ({ id, project, org, trx }) =>
        await trx
          .updateTable("tickets")
          .set({ project_id: project, org })
          .where("id", "=", id)
          .returningAll()
          .executeTakeFirst(),
    ),
    say: mutation(Comment, { params: { ticket: t.id, body: t.string, trx } })(
      async ({ ticket, body, trx }) =>
        await trx
          .insertInto("comments")
          .values({ id: randomUUID(), ticket_id: ticket, body })
          .returningAll()
          .executeTakeFirstOrThrow(),
    ),
    drop: mutation(t.boolean, { params: { id: t.id, trx } })(async ({ id, trx }) => {
      await trx.deleteFrom("comments").where("ticket_id", "=", id).execute();
      const { numDeletedRows } = await trx.deleteFrom("tickets").where("id", "=", id).executeTakeFirst();
      return numDeletedRows > 0n;
    }),
  };
  const events = {
    changed: subscription(Ticket)(async function* ({ ctx }) {
      for await (const id of ctx.pubsub.subscribe(ticketChanged)) {
        const row = await database.selectFrom("tickets").selectAll().where("id", "=", id).executeTakeFirst();
        if (row !== undefined) yield row;
      }
    }),
  };

  const app = new PorticoApp({ logger: false });
  app.use(new AuthenticationMiddleware({ userModel: Person, backend: [new HeaderBackend()] }));
  new Graph(schema({ query, mutation: edits, subscription: events }), {
    limits: { cost: 100_000 },
    subscriptions: { connectsPerMinute: 0, messagesPerSecond: 0 },
  }).mount(app);

  app.get("/projects", ({ response }) => response.apaginate(list("projects", true), { strategy: byName }));
  app.get("/tickets", ({ response }) => response.apaginate(everyTicket, { strategy: byNumber }));
  app.get("/tickets/:id", async ({ path }) =>
    found(await database.selectFrom("tickets").selectAll().where("id", "=", path.id).executeTakeFirst()),
  );
  app.get("/projects/:id", async ({ path, ctx }) => found(await projectById.load(ctx, path.id)));
  app.get("/report", () =>
    database
      .with("loud", (creator) => creator.selectFrom("tickets").selectAll().where("votes", ">=", 0))
      .selectFrom("projects as p")
      .leftJoin("loud", "loud.project_id", "p.id")
      .fullJoin("comments as c", "c.ticket_id", "loud.id")
      .select(["p.name", "loud.title", "c.body"])
      .select((eb) => [
        eb
          .selectFrom("tickets as i")
          .select((inner) => inner.fn.max("i.title").as("title"))
          .as("last"),
        sql<string>`coalesce(${eb.ref("p.name")}, '-')`.as("label"),
      ])
      .execute(),
  );
  app.get("/sums", () =>
    database
      .selectFrom("tickets")
      .select((eb) => ["org", eb.fn.countAll<number>().as("n"), eb.fn.max("title").as("last")])
      .groupBy("org")
      .unionAll(
        database
          .selectFrom("projects")
          .select((eb) => ["org", eb.fn.countAll<number>().as("n"), eb.fn.max("name").as("last")])
          .groupBy("org"),
      )
      .execute(),
  );
  app.get("/export", async () => {
    const rows: unknown[] = [];
    for await (const row of database.selectFrom("comments").selectAll().stream(10)) rows.push(row);
    return rows;
  });
  app.post("/tickets", { params: { trx } }, async ({ trx, request }) => {
    const { id, org, project, title } = (await request.json()) as Readonly<Record<string, string>>;
    await trx
      .insertInto("tickets")
      .values({ id, org, project_id: project, title, votes: 0 } as never)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    return { id };
  });
  app.put("/tickets/:id", { params: { trx } }, async ({ trx, path, request }) => {
    const { org, project, title } = (await request.json()) as Readonly<Record<string, string>>;
    const row = { id: path.id, org, project_id: project, title, votes: 1 } as never;
    await trx
      .insertInto("tickets")
      .values(row)
      .onConflict((conflict) => conflict.column("id").doUpdateSet(row))
      .execute();
    return { id: path.id };
  });
  app.post("/votes", async () => {
    const { numUpdatedRows } = await database
      .updateTable("tickets")
      .from("projects as p")
      .whereRef("p.id", "=", "tickets.project_id")
      .set((eb) => ({ votes: eb("tickets.votes", "+", 1) }))
      .executeTakeFirst();
    return { updated: Number(numUpdatedRows) };
  });
  app.post("/takeover", async ({ request }) => {
    const { org } = (await request.json()) as Readonly<Record<string, string>>;
    await database
      .updateTable("projects")
      .set({ org } as never)
      .execute();
    return {};
  });
  app.delete("/comments", async () => {
    const { numDeletedRows } = await database
      .deleteFrom("comments")
      .where((eb) =>
        eb.exists(eb.selectFrom("tickets").select("tickets.id").whereRef("tickets.id", "=", "comments.ticket_id")),
      )
      .executeTakeFirst();
    return { deleted: Number(numDeletedRows) };
  });
  app.post("/around", async ({ request }) => {
    const { way } = (await request.json()) as Readonly<Record<string, string>>;
    return waysAround[way ?? ""]?.(database);
  });
  return app;
}

function found<T>(row: T | undefined | null): T {
  if (row === undefined || row === null) throw new NotFound();
  return row;
}
