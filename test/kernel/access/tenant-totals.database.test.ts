import { randomUUID } from "node:crypto";
import { type Kysely, sql } from "kysely";
import { isEqual, isIn, PorticoApp, rule } from "portico";
import { SimpleUser } from "portico/auth";
import { connection, Graph, loader, type ObjectType, object, schema, t } from "portico/graphql";
import { CursorPagination, PageNumberPagination } from "portico/pagination";
import { tableHandler } from "portico/sql";
import { logCatcher, type TestClient, testClient } from "portico/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { createTable, type Engine, engineNames, insertRows, openEngine } from "../../../lab/servers/engines.ts";

interface Project {
  readonly id: string;
  readonly organisation_id: string;
  readonly name: string;
}

// ann is a member of acme, which has all projects, and bob of bolt, which has none. Both tables have a column organisation_id.
describe.each(engineNames)("a tenant without rows on %s", (name) => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await openEngine(name, `portico_totals_${randomUUID().slice(0, 8)}`);
    await createTable(engine, "memberships", { user_id: "text", organisation_id: "text" });
    await createTable(engine, "projects", { id: "text", organisation_id: "text", name: "text" });
    await createTable(engine, "organisations", { id: "text" });
    await insertRows(engine, "memberships", [
      { user_id: "ann", organisation_id: "acme" },
      { user_id: "bob", organisation_id: "bolt" },
    ]);
    await insertRows(engine, "organisations", [{ id: "acme" }, { id: "bolt" }]);
    await insertRows(
      engine,
      "projects",
      [1, 2, 3].map((number) => ({ id: `p${number}`, organisation_id: "acme", name: `Secret ${number}` })),
    );
  });
  afterAll(() => engine?.close());

  const membershipsOf = loader(async (users: readonly string[]) => {
    const rows = await engine.database.selectFrom("memberships").selectAll().where("user_id", "in", users).execute();
    return users.map((user) => rows.filter(({ user_id }) => user_id === user));
  });
  const inOrganisation = rule<{ organisation_id: string }>({
    name: "organisation.member",
    allows: async (user, { organisation_id }, { ctx }) =>
      (await membershipsOf.load(ctx, user.identity)).some(
        (membership) => membership["organisation_id"] === organisation_id,
      ),
    where: (user) =>
      isIn("organisation_id", {
        from: "memberships",
        column: "organisation_id",
        where: isEqual("user_id", user.identity),
      }),
  });
  const byId = new CursorPagination({ sortField: "id", totals: "exact" });
  const Project: ObjectType<Project> = object("Project", { id: t.id, name: t.string }, { auth: inOrganisation });
  const fields = ["id", "organisation_id", "name"];

  const shapes: Readonly<Record<string, (database: Kysely<any>) => any>> = {
    all: (database) => database.selectFrom("projects").selectAll(),
    names: (database) => database.selectFrom("projects").select(fields),
    qualifiedNames: (database) => database.selectFrom("projects").select(fields.map((field) => `projects.${field}`)),
    alias: (database) => database.selectFrom("projects as p").select(fields),
    aliasLikeTheOtherTable: (database) => database.selectFrom("projects as memberships").select(fields),
    subquery: (database) =>
      database.selectFrom(database.selectFrom("projects").selectAll().as("memberships")).select(fields),
    cte: (database) =>
      database
        .with("mine", (query) => query.selectFrom("projects").selectAll())
        .selectFrom("mine")
        .select(fields),
    join: (database) =>
      database
        .selectFrom("organisations")
        .innerJoin("projects", "projects.organisation_id", "organisations.id")
        .selectAll("projects"),
    bareJoin: (database) =>
      database
        .selectFrom("projects")
        .innerJoin("organisations as o", "o.id", "projects.organisation_id")
        .select(["projects.id", "organisation_id", "name"]),
    raw: (database) =>
      database.selectFrom("projects").select(["id", "name", sql`organisation_id`.as("organisation_id")]),
    computed: (database) =>
      database.selectFrom("projects").select(["id", "name", sql`lower(organisation_id)`.as("organisation_id")]),
  };
  const serve = (declare: (app: PorticoApp) => void, user: string): TestClient => {
    const app = new PorticoApp({ logger: false });
    declare(app);
    return testClient(app).as(new SimpleUser(user));
  };
  const graph = (user: string): TestClient =>
    serve((app) => {
      const query = Object.fromEntries(
        Object.entries(shapes).map(([field, query]) => [
          field,
          connection(Project, byId, { auth: true })(() => tableHandler(query(engine.database)) as never),
        ]),
      );
      new Graph(schema({ query })).mount(app);
    }, user);

  it.each(Object.keys(shapes))("learns nothing from the total of a list that selects %s", async (field) => {
    const query = `{ ${field} { totalCount nodes { id } pageInfo { hasNextPage endCursor } } }`;
    const bob = await graph("bob").graphql(query);
    const ann = await graph("ann").graphql(query);

    expect(bob.errors).toBeUndefined();
    expect(bob.data).toEqual({
      [field]: { totalCount: 0, nodes: [], pageInfo: { hasNextPage: false, endCursor: null } },
    });
    expect(ann.data).toMatchObject({ [field]: { totalCount: 3, nodes: [{ id: "p1" }, { id: "p2" }, { id: "p3" }] } });
  });

  it("learns nothing from a page beyond the last, or from a filter", async () => {
    const strategy = new PageNumberPagination({ filterable: { name: { type: "text", by: ["prefix"] } } });
    const item = z.object({ id: z.string(), name: z.string() });
    const declare = (app: PorticoApp): void =>
      void app.get("/projects", { auth: true, paginated: { strategy, item, rule: inOrganisation } }, ({ response }) =>
        response.apaginate(tableHandler(engine.database.selectFrom("projects").select(fields)) as never, { strategy }),
      );
    const totals = async (user: string): Promise<readonly unknown[]> => {
      const asked = [{}, { page: "9" }, { page: "9", "name.startsWith": "Secret 1" }];
      const responses = asked.map((query) => serve(declare, user).get("/projects", { query }));
      return (await Promise.all(responses)).map(
        (response) => (response.json() as { pagination: { total_items: number } }).pagination.total_items,
      );
    };

    expect(await totals("bob")).toEqual([0, 0, 0]);
    expect(await totals("ann")).toEqual([3, 3, 1]);
  });

  it("learns nothing from the lists of a parent that everyone sees", async () => {
    const Organisation: ObjectType<{ id: string }> = object("Organisation", {
      id: t.id,
      projects: connection(Project, byId, { parent: { organisation_id: "id" } })(
        () => tableHandler(engine.database.selectFrom("projects").select(fields)) as never,
      ),
    });
    const bob = serve((app) => {
      const organisations = connection(
        Organisation,
        byId,
      )(() => tableHandler(engine.database.selectFrom("organisations").selectAll()) as never);
      new Graph(schema({ query: { organisations } })).mount(app);
    }, "bob");

    const { data } = await bob.graphql("{ organisations { nodes { id projects { totalCount nodes { id } } } } }");

    expect(data).toEqual({
      organisations: {
        nodes: ["acme", "bolt"].map((id) => ({ id, projects: { totalCount: 0, nodes: [] } })),
      },
    });
  });

  it("gets neither total nor position where `where` is wider than `allows`", async () => {
    const wide = rule<{ organisation_id: string }>({
      name: "organisation.wide",
      allows: () => false,
      where: () => isEqual("organisation_id", "acme"),
    });
    const Secret: ObjectType<Project> = object("Secret", { id: t.id }, { auth: wide });
    const log = logCatcher();
    const app = new PorticoApp({ logger: { level: "error", stream: log.stream } });
    const secrets = connection(Secret, byId, { auth: true })(
      () => tableHandler(engine.database.selectFrom("projects").select(fields)) as never,
    );
    new Graph(schema({ query: { secrets } })).mount(app);
    const strategy = new PageNumberPagination();
    const item = z.object({ id: z.string() });
    app.get("/secrets", { auth: true, paginated: { strategy, item, rule: wide } }, ({ response }) =>
      response.apaginate(tableHandler(engine.database.selectFrom("projects").select(fields)) as never, { strategy }),
    );
    const bob = testClient(app).as(new SimpleUser("bob"));

    for (const selection of ["totalCount", "pageInfo { hasNextPage }", "pageInfo { endCursor }"]) {
      for (const args of ["", "(first: 0)"]) {
        if (args !== "" && selection !== "totalCount") continue;
        const { data, errors } = await bob.graphql(`{ secrets${args} { ${selection} } }`);
        expect(JSON.stringify(data), selection).not.toMatch(/3|true|[a-zA-Z0-9_-]{20}/);
        expect(errors?.length).toBeGreaterThan(0);
      }
    }
    for (const query of [{}, { page: "9" }]) expect((await bob.get("/secrets", { query })).status).toBe(500);
    expect(log.text).toContain("organisation.wide");
  });
});
