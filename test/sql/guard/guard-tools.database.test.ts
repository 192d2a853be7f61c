import { sql } from "kysely";
import { isEqual, isIn, PorticoApp, rule } from "portico";
import { connection, field, Graph, type ObjectType, object, schema, t } from "portico/graphql";
import { CursorPagination } from "portico/pagination";
import { type Database, tableHandler } from "portico/sql";
import { expectAgreement, expectPlans, testClient, watchStatements } from "portico/testing";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import * as z from "zod";
import { engineNames } from "../accounts/databases.ts";
import { ann, bob, openShop, type ShopTables } from "./guarded-shop.ts";

interface Project {
  readonly id: number;
  readonly org: number;
}
const byId = new CursorPagination({ sortField: "id", totals: "exact" });

describe.each(engineNames)("tools on a guarded database on %s", (engine) => {
  let opened: Awaited<ReturnType<typeof openShop>>;
  let shop: Database<ShopTables>;
  beforeAll(async () => {
    opened = await openShop(engine);
    ({ shop } = opened);
    // Ann also works for a third organisation.
    const all = shop.asSystem("the rows of a test");
    await all.insertInto("projects").values({ id: 3, org: 3, name: "third" }).execute();
    await all
      .insertInto("tasks")
      .values([
        { id: 31, project: 3, title: "saw" },
        { id: 12, project: 1, title: "dry" },
      ])
      .execute();
    await all.insertInto("members").values({ person: "ann", org: 3, role: "guest" }).execute();
  });
  afterAll(() => opened.place.remove());

  /** A route and a nested list over the tables. */
  const app = (database: Database<ShopTables>, projectRule?: ReturnType<typeof projectsOf>): PorticoApp => {
    const made = new PorticoApp({ logger: false });
    onTestFinished(() => made.close());
    const projects = () => tableHandler(database.selectFrom("projects").selectAll());
    made.get(
      "/projects",
      {
        paginated: {
          strategy: byId,
          item: z.object({ id: z.number() }),
          ...(projectRule === undefined ? {} : { rule: projectRule }),
        },
      },
      ({ response }) => response.apaginate(projects(), { strategy: byId }),
    );
    const Task: ObjectType<{ id: number; title: string; project: number }> = object("Task", {
      id: t.int,
      title: t.string,
    });
    const Project: ObjectType<Project> = object("Project", {
      id: t.int,
      tasks: connection(Task, byId, { parent: { project: "id" } })(() =>
        tableHandler(database.selectFrom("tasks").selectAll()),
      ),
    });
    const query = {
      projects: field(t.list(Project), { listSize: 10 })(() => [1, 2, 3].map((id) => ({ id, org: id }))),
    };
    new Graph(schema({ query })).mount(made);
    return made;
  };

  const projectsOf = (organisations: Readonly<Record<string, readonly number[]>>) =>
    rule<Project>({
      name: "project",
      allows: (user, project) => organisations[user.identity]?.includes(project.org) === true,
      where: (user) => isIn("org", { from: "members", column: "org", where: isEqual("person", user.identity) }),
    });

  it("explains lists with the rules of the caller who read them", async () => {
    using watch = watchStatements(shop);
    const client = testClient(app(shop)).as(ann);
    await client.get("/projects");
    await client.graphql("{ projects { tasks { nodes { id } } } }");

    await expect(expectPlans(watch)).rejects.toThrow("Project.tasks ");
    for (const index of [
      "projects_of_org on projects (org, id)",
      "tasks_of_project on tasks (project, id)",
      "members_by_person on members (person, org)",
    ])
      await sql.raw(`create index ${index}`).execute(shop.asSystem("a test"));
    await expectPlans(watch);
  });

  it("compares the halves of a rule over all rows, also those that the guard leaves out", async () => {
    const agree = (organisations: Readonly<Record<string, readonly number[]>>) =>
      expectAgreement(app(shop, projectsOf(organisations)), {
        users: [ann, bob],
        lists: (client) => client.get("/projects"),
      });

    await agree({ ann: [1, 3], bob: [2] });
    await expect(agree({ ann: [1, 2, 3], bob: [2] })).rejects.toThrow(
      'For the user "ann", only `allows` includes the rows with id 2.',
    );
  });

  it("reads the nested lists of several parents as a user, with one statement", async () => {
    const asAnn = shop.as(ann);
    using watch = watchStatements(shop);
    const nested = async (database: Database<ShopTables>, user = bob) =>
      (await testClient(app(database)).as(user).graphql("{ projects { tasks { totalCount nodes { title } } } }")).data;

    const tasks = (...titles: readonly string[]) => ({
      tasks: { totalCount: titles.length, nodes: titles.map((title) => ({ title })) },
    });
    const ofAnn = { projects: [tasks("paint", "dry"), tasks(), tasks("saw")] };
    expect(await nested(asAnn)).toEqual(ofAnn);
    expect(await nested(shop, ann)).toEqual(ofAnn);
    expect(await nested(shop)).toEqual({ projects: [tasks(), tasks("secret"), tasks()] });
    const sent = watch.statements.filter(({ place }) => place === "Project.tasks");
    // Three operations with a statement for the rows and one for the totals.
    expect(sent.reduce((sum, { count }) => sum + count, 0)).toBe(6);
  });
});
