import {
  AnonymousUser,
  type Condition,
  type CurrentUser,
  rule as declareRule,
  every,
  isEqual,
  isIn,
  not,
  type Rule,
} from "portico";
import { SimpleUser } from "portico/auth";
import { SyncListDataHandler } from "portico/pagination";
import { openDatabase, type PorticoTables, tableHandler } from "portico/sql";
import { type AgreementOptions, expectAgreement } from "portico/testing";
import { beforeAll, describe, expect, it } from "vitest";
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
  where: Where | null = ({ teams }) => isIn("team", teams),
  allows: Rule<Project, true>["allows"] = isAllowed,
): Rule<Project, true> =>
  declareRule<Project>({
    name: "project.visible",
    allows,
    ...(where === null ? {} : { where: (user) => where(user as User) }),
  });
const handler = () => tableHandler(database.selectFrom("projects").selectAll());
const check = async (rule: Rule<Project, true>, options: Partial<AgreementOptions<Project>> = {}) =>
  expectAgreement(rule, { users: [ann, bob, eve], handler: handler(), ...options });

describe("expectAgreement", () => {
  it("accepts a rule whose halves allow the same rows, with given rows and with those of the handler", async () => {
    await expect(check(ruleOf())).resolves.toBeUndefined();
    await expect(check(ruleOf(), { rows: projects })).resolves.toBeUndefined();
    await expect(check(ruleOf(undefined, async (user, row) => isAllowed(user, row)))).resolves.toBeUndefined();
  });

  it("names the rule, the user and the rows that only `where` includes", async () => {
    const wide = ruleOf(({ teams }) => isIn("team", [...teams, null]));

    await expect(check(wide, { users: [eve, ann], rows: projects.slice(0, 2) })).rejects.toThrow(
      'the halves of the rule project.visible disagree. For the user "eve", only `where` includes the rows with id 2; id 5; id 8; id 11; id 14; id 17; id 20; id 23; id 26; id 29. For the user "ann", only `where` includes the rows with id 2; id 3; id 5;',
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

  it("compares keys of several columns, and large numbers that the driver returns as text", async () => {
    const keyed = tableHandler(database.selectFrom("projects").selectAll(), { uniqueKey: ["team", "id"] });
    const rows = projects.map(({ id, team }) => ({ id: String(id), team }));

    await expect(check(ruleOf(), { handler: keyed, rows: rows as unknown as Project[] })).resolves.toBeUndefined();
    await expect(check(ruleOf(), { handler: keyed, rows: [{ id: 1 } as Project] })).rejects.toThrow(
      "a row has no field team, which is part of the handler's uniqueKey",
    );
  });

  it("passes the context to `allows`", async () => {
    const seen = new Set<unknown>();
    const rule = ruleOf(undefined, (user, row, { ctx }) => {
      seen.add((ctx as { tenant?: unknown }).tenant);
      return isAllowed(user, row);
    });

    await check(rule, { ctx: { tenant: "acme" } });

    expect([...seen]).toEqual(["acme"]);
  });

  it.each<[reason: string, rule: Rule<Project, true>, options: Partial<AgreementOptions<Project>>]>([
    ["there are no users", ruleOf(), { users: [] }],
    ["there are no rows", ruleOf(), { rows: [] }],
    ["there are no rows", ruleOf(), { handler: tableHandler(database.selectFrom("empty").selectAll()) }],
    ["no user is allowed a row", ruleOf(), { users: [eve] }],
    ["no user is refused a row", ruleOf(), { users: [ann], rows: projects.filter(({ team }) => team === "red") }],
  ])("throws if %s", async (reason, rule, options) => {
    await expect(check(rule, options)).rejects.toThrow(
      `expectAgreement proves nothing about the rule project.visible: ${reason}`,
    );
  });

  it("compares combinations of rules, for anonymous callers too", async () => {
    const low = declareRule<Project>({
      name: "project.low",
      anonymous: true,
      allows: (_user, { id }) => id < 10,
      where: () => isIn("id", range(1, 9)),
    });
    const users = [ann, eve, new AnonymousUser()];

    await expectAgreement(every(ruleOf(), not(low)), { users, handler: handler() });
    await expectAgreement(not(every(ruleOf(), low)), { users, handler: handler() });
    await expect(
      expectAgreement(
        every(
          ruleOf(({ teams }) => isIn("team", [...teams, null])),
          low,
        ),
        { users, handler: handler() },
      ),
    ).rejects.toThrow("the halves of the rule every(project.visible, project.low) disagree");
  });

  it("throws the error of a rule that fails", async () => {
    const failing = ruleOf(undefined, () => {
      throw new Error("no such column");
    });

    await expect(check(failing)).rejects.toThrow("no such column");
  });

  it("throws if there is nothing to compare", async () => {
    const list = new SyncListDataHandler(projects) as unknown as ReturnType<typeof handler>;

    await expect(check(ruleOf(null))).rejects.toThrow(
      "the rule project.visible has no `where` to compare with `allows`",
    );
    await expect(check(ruleOf(), { handler: list })).rejects.toThrow(
      "the data handler SyncListDataHandler has no scopedTo, so `where` cannot restrict it",
    );
  });
});
