import { sql } from "kysely";
import { authorized, isEqual, isIn, NotFound, PorticoApp, rule } from "portico";
import { SimpleUser } from "portico/auth";
import { CursorPagination } from "portico/pagination";
import { type Database, type Guard, openDatabase, type PorticoTables, tableHandler } from "portico/sql";
import { expectPlans, logCatcher, testClient, watchStatements } from "portico/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { read } from "../../scripts/package/repository.ts";
import { guardReport } from "../../src/audit/guard/guard-report.ts";
import { accessChanges, accessFile } from "../../src/audit/table/access-file.ts";
import { accessTable } from "../../src/audit/table/access-table.ts";

interface Ticket {
  id: string;
  organisation_id: string;
  project_id: string;
}
interface Tables extends PorticoTables {
  memberships: { user_id: string; organisation_id: string };
  projects: { id: string; organisation_id: string };
  tickets: Ticket;
}

const inOrganisation = rule<{ organisation_id: string }>({
  name: "organisation.member",
  allows: () => true,
  where: (user) =>
    isIn("organisation_id", {
      from: "memberships",
      column: "organisation_id",
      where: isEqual("user_id", user.identity),
    }),
});
const guard: Guard<Tables> = {
  memberships: { read: inOrganisation, write: "closed" },
  projects: { read: inOrganisation, write: inOrganisation },
  tickets: { read: inOrganisation, write: inOrganisation },
};

/** A helpdesk of two organisations. Ann is a member of acme, and t2 is a ticket of bolt. */
async function helpdesk(rules: Guard<Tables> = guard): Promise<Database<Tables>> {
  const database = openDatabase<Tables>("sqlite::memory:", { guard: rules });
  onTestFinished(() => database.destroy());
  const all = database.asSystem("the rows of the test");
  for (const text of [
    "create table memberships (user_id text, organisation_id text)",
    "create table projects (id text primary key, organisation_id text)",
    "create table tickets (id text primary key, organisation_id text, project_id text references projects (id))",
    "insert into memberships values ('ann', 'acme')",
    "insert into projects values ('p1', 'acme'), ('p2', 'bolt')",
    "insert into tickets values ('t1', 'acme', 'p1'), ('t2', 'bolt', 'p2')",
  ])
    await sql.raw(text).execute(all);
  return database;
}

/** Sends a request as Ann, and returns what the response and the log say. */
async function printed(method: "GET" | "POST", path: string, build: (app: PorticoApp) => void): Promise<string> {
  const log = logCatcher();
  const app = new PorticoApp({ logger: log });
  onTestFinished(() => app.close());
  build(app);
  const response = await testClient(app).as(new SimpleUser("ann")).request(method, path);
  const { detail = "" } = response.json() as { readonly detail?: string };
  return [`${response.status} ${detail}`, ...log.lines.map((line) => JSON.stringify(line))].join("\n");
}

const messageOf = (failing: Promise<unknown>): Promise<string> =>
  failing.then(
    () => "nothing failed",
    (error: unknown) => (error as Error).message,
  );

const asAnn = (database: Database<Tables>) => database.as(new SimpleUser("ann"));

/** An application with a route about a ticket. */
function aboutTicket(declare: (app: PorticoApp) => void): PorticoApp {
  const app = new PorticoApp({ logger: false });
  onTestFinished(() => app.close());
  declare(app);
  return app;
}

/** Each mistake of the table, made through the public API: what it prints. */
const mistakes: Readonly<Record<string, () => Promise<string>>> = {
  "A handler reads a ticket and forgets `ctx.authorize`": async () => {
    const database = await helpdesk();
    return printed("GET", "/tickets/t2", (app) =>
      app.get("/tickets/:id", async ({ path }) => {
        const found = await database.selectFrom("tickets").selectAll().where("id", "=", path.id).executeTakeFirst();
        if (found === undefined) throw new NotFound();
        return found;
      }),
    );
  },
  "A handler doesn't wait for `ctx.authorize`": async () => {
    const ticket = { organisation_id: "bolt" };
    return printed("GET", "/tickets/t2", (app) =>
      app.get("/tickets/:id", ({ ctx }) => {
        void ctx.authorize(rule<typeof ticket>({ name: "ticket", allows: () => false }), ticket);
        return ticket;
      }),
    );
  },
  "A declared object has no rule": async () =>
    // @ts-expect-error -- the compiler finds it as well
    messageOf((async () => authorized((): Ticket | undefined => undefined))()),
  "A route no longer declares its object": async () => {
    const ticket = authorized((): Ticket | undefined => undefined, inOrganisation);
    const before = aboutTicket((app) => app.get("/tickets/:id", { auth: true, params: { ticket } }, () => "done"));
    const after = aboutTicket((app) => app.get("/tickets/:id", { auth: true }, () => "done"));
    const changes = accessChanges(await accessTable(after, null), accessFile(await accessTable(before, null), []));
    return changes.map(({ sentence }) => sentence).join("\n");
  },
  "A table has no rule": async () => {
    const { tickets: _tickets, ...fewer } = guard;
    // @ts-expect-error -- the compiler finds it as well
    return messageOf((await helpdesk(fewer)).check());
  },
  "The rule of a table has no `where`": () => {
    const withoutWhere = rule<Ticket>({ name: "ticket", allows: () => true });
    return messageOf(helpdesk({ ...guard, tickets: { read: withoutWhere, write: "closed" } }));
  },
  "A job forgets as whom it reads": async () => {
    const database = await helpdesk();
    return messageOf(database.selectFrom("tickets").selectAll().execute());
  },
  "A handler writes into another tenant": async () => {
    const database = await helpdesk();
    return printed("POST", "/tickets", (app) =>
      app.post("/tickets", () =>
        database.insertInto("tickets").values({ id: "t3", organisation_id: "bolt", project_id: "p2" }).execute(),
      ),
    );
  },
  "An index ignores the tenant": async () => {
    const database = await helpdesk();
    const strategy = new CursorPagination({ sortField: "id" });
    const app = aboutTicket((one) =>
      one.get("/tickets", ({ response }) =>
        response.apaginate(tableHandler(database.selectFrom("tickets").selectAll()), { strategy }),
      ),
    );
    using watch = watchStatements(database);
    await testClient(app).as(new SimpleUser("ann")).get("/tickets");
    return messageOf(expectPlans(watch));
  },
  "A ticket refers to a project of another tenant": async () => {
    const { warnings } = await guardReport(await helpdesk());
    return warnings.map(({ place, sentence }) => `${place} ${sentence}`).join("\n");
  },
};

/** The rows of the table: the mistake, and the sentence that it prints. */
const rows = [
  ...(/^## Mistakes and what catches them$(.*?)^## /ms.exec(read("docs/guide/authorization.md"))?.[1] ?? "").matchAll(
    /^\| (?<mistake>[^|]+) \| (?<caught>[^|]+) \| `(?<sentence>[^|]+)` \|$/gm,
  ),
].map(({ groups }) => groups as { readonly mistake: string; readonly sentence: string });

describe("the mistakes in docs/guide/authorization.md", () => {
  it("are those of this test", () => {
    expect(rows.map(({ mistake }) => mistake)).toEqual(Object.keys(mistakes));
  });

  it.each(rows)("$mistake", async ({ mistake, sentence }) => {
    expect(await mistakes[mistake]?.()).toContain(sentence);
  });

  it("leave out a query that forgets its `where`, which returns the rows of the tenant all the same", async () => {
    const database = await helpdesk();

    const rowsOfAnn = await asAnn(database).selectFrom("tickets").selectAll().execute();

    expect(rowsOfAnn).toEqual([{ id: "t1", organisation_id: "acme", project_id: "p1" }]);
  });
});
