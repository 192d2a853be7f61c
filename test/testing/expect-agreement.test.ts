import {
  AnonymousUser,
  type Condition,
  type CurrentUser,
  rule as declareRule,
  every,
  isEqual,
  isIn,
  not,
  PorticoApp,
  type Rule,
} from "portico";
import { SimpleUser } from "portico/auth";
import { connection, Graph, type ObjectType, object, schema, t } from "portico/graphql";
import { CursorPagination } from "portico/pagination";
import { openDatabase, type PorticoTables, tableHandler } from "portico/sql";
import { type AgreementOptions, expectAgreement } from "portico/testing";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { range } from "../pagination/ways.ts";

class User extends SimpleUser {
  readonly teams: readonly string[];
  readonly password = "secret";
  constructor(identity: string, ...teams: string[]) {
    super(identity);
    this.teams = teams;
  }
}
interface Project {
  readonly id: number;
  readonly team: string | null;
}
const database = openDatabase<PorticoTables & { projects: Project; empty: Project }>("sqlite::memory:");
const projects: readonly Project[] = range(1, 30).map((id) => ({ id, team: ["red", "blue", null][id % 3] ?? null }));
beforeAll(async () => {
  for (const table of ["projects", "empty"] as const)
    await database.schema.createTable(table).addColumn("id", "integer").addColumn("team", "text").execute();
  await database.insertInto("projects").values(projects).execute();
});

const ann = new User("ann", "red");
const bob = new User("bob", "red", "blue");
const eve = new User("eve");
const isAllowed = (user: CurrentUser, { team }: Project): boolean =>
  team !== null && (user as User).teams.includes(team);
type Where = (user: User) => Condition<"team">;
const ruleOf = (
  where: Where = ({ teams }) => isIn("team", teams),
  allows: Rule<Project, true>["allows"] = isAllowed,
): Rule<Project, true> =>
  declareRule<Project>({ name: "project.visible", allows, where: (user) => where(user as User) });

const byId = new CursorPagination({ sortField: "id" });
const allProjects = () => tableHandler(database.selectFrom("projects").selectAll());
type List = ReturnType<typeof allProjects>;

const Listed = z.object({ id: z.number(), team: z.string().nullable() });

/** An application whose only list has the rule. */
function appOf(rule: Rule<Project, true>, list: () => List = allProjects): PorticoApp {
  const app = new PorticoApp({ logger: false });
  app.get("/projects", { paginated: { strategy: byId, item: Listed, rule } }, ({ response }) =>
    response.apaginate(list(), { strategy: byId }),
  );
  return app;
}
const check = (rule: Rule<Project, true>, options: Partial<AgreementOptions> = {}, list?: () => List): Promise<void> =>
  expectAgreement(appOf(rule, list), {
    users: [ann, bob, eve],
    lists: (client) => client.get("/projects"),
    ...options,
  });

describe("expectAgreement", () => {
  it("accepts rules whose halves allow the same rows", async () => {
    await expect(check(ruleOf())).resolves.toBeUndefined();
    await expect(check(ruleOf(undefined, async (user, row) => isAllowed(user, row)))).resolves.toBeUndefined();
  });

  it("names the rule, the user and the rows that only `where` includes", async () => {
    const wide = ruleOf(({ teams }) => isIn("team", [...teams, null]));

    await expect(check(wide, { users: [eve, ann] })).rejects.toThrow(
      'the halves of the rule project.visible disagree. For the user "eve", only `where` includes the rows with id 2; id 5; id 8; id 11; id 14; id 17; id 20; id 23; id 26; id 29. For the user "ann", only `where` includes the rows with id 2; id 5;',
    );
  });

  it("names the rows that only `allows` includes, and no secret of the user", async () => {
    const narrow = ruleOf(
      ({ teams }) => isEqual("team", teams[0] ?? null),
      (_user, { team }) => team !== null,
    );

    const failure = check(narrow, { users: [bob, ann] });

    await expect(failure).rejects.toThrow(
      'For the user "bob", only `allows` includes the rows with id 1; id 4; id 7; id 10; id 13; id 16; id 19; id 22; id 25; id 28.',
    );
    await expect(failure).rejects.not.toThrow("secret");
  });

  it("compares the rows of the application's own query, and no others", async () => {
    const wide = ruleOf(({ teams }) => isIn("team", [...teams, null]));
    const ofTeams = () => tableHandler(database.selectFrom("projects").selectAll().where("team", "is not", null));

    await expect(check(wide, {}, ofTeams)).resolves.toBeUndefined();
    await expect(check(wide)).rejects.toThrow("the halves of the rule project.visible disagree");
  });

  it("compares keys of several columns", async () => {
    const keyed = () => tableHandler(database.selectFrom("projects").selectAll(), { uniqueKey: ["team", "id"] });
    const wide = ruleOf(({ teams }) => isIn("team", [...teams, null]));

    await expect(check(ruleOf(), {}, keyed)).resolves.toBeUndefined();
    await expect(check(wide, {}, keyed)).rejects.toThrow("team null, id 2");
  });

  it("compares connections, by the gates of their types", async () => {
    const wide = ruleOf(({ teams }) => isIn("team", [...teams, null]));
    const graphOf = (rule: Rule<Project, true>): PorticoApp => {
      const Shown: ObjectType<Project> = object("Project", { id: t.int }, { auth: rule });
      const app = new PorticoApp({ logger: false });
      new Graph(schema({ query: { projects: connection(Shown, byId)(allProjects) } })).mount(app);
      return app;
    };
    const options: AgreementOptions = {
      users: [ann, bob, eve],
      lists: (client) => client.graphql("{ projects { nodes { id } } }"),
    };

    await expect(expectAgreement(graphOf(ruleOf()), options)).resolves.toBeUndefined();
    await expect(expectAgreement(graphOf(wide), options)).rejects.toThrow("the halves of the rule project.visible");
  });

  it.each<[reason: string, options: Partial<AgreementOptions>, list?: () => List]>([
    [
      " about the rule project.visible: there are no rows",
      {},
      () => tableHandler(database.selectFrom("empty").selectAll()),
    ],
    [" about the rule project.visible: no user is allowed a row", { users: [eve] }],
    [
      " about the rule project.visible: no user is refused a row",
      { users: [ann] },
      () => tableHandler(database.selectFrom("projects").selectAll().where("team", "=", "red")),
    ],
    [": there are no users", { users: [] }],
    [": no list with a rule over a table was read", { lists: (client) => client.get("/nothing") }],
  ])("throws that it proves nothing%s", async (reason, options, list) => {
    await expect(check(ruleOf(), options, list)).rejects.toThrow(`expectAgreement proves nothing${reason}`);
  });

  it("compares combinations of rules, for anonymous callers too", async () => {
    const low = declareRule<Project>({
      name: "project.low",
      anonymous: true,
      allows: (_user, { id }) => id < 10,
      where: () => isIn("id", range(1, 9)),
    });
    const users = [ann, eve, new AnonymousUser()];
    const wide = ruleOf(({ teams }) => isIn("team", [...teams, null]));

    await check(every(ruleOf(), not(low)) as never, { users });
    await check(not(every(ruleOf(), low)) as never, { users });
    await expect(check(every(wide, low) as never, { users })).rejects.toThrow(
      "the halves of the rule every(project.visible, project.low) disagree",
    );
  });

  it("throws if a rule fails", async () => {
    const failing = ruleOf(undefined, () => {
      throw new Error("no such column");
    });

    await expect(check(failing)).rejects.toThrow('the halves of the rule project.visible failed for the user "ann"');
  });
});
