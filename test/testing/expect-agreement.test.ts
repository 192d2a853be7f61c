import { type Condition, isEqual, isIn } from "portico";
import { SyncListDataHandler } from "portico/pagination";
import { openDatabase, type PorticoTables, tableHandler } from "portico/sql";
import { type AgreementOptions, type AgreementRule, expectAgreement } from "portico/testing";
import { beforeAll, describe, expect, it } from "vitest";
import { range } from "../pagination/ways.ts";

interface User {
  readonly identity?: string;
  readonly teams: readonly string[];
  readonly password?: string;
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

const ann: User = { identity: "ann", teams: ["red"], password: "secret" };
const bob: User = { teams: ["red", "blue"] };
const eve: User = { identity: "eve", teams: [] };
const isAllowed = ({ teams }: User, { team }: Project): boolean => team !== null && teams.includes(team);
const ruleOf = (
  where: ((user: User) => Condition) | undefined = ({ teams }) => isIn("team", teams),
  allows: AgreementRule<User, Project>["allows"] = isAllowed,
): AgreementRule<User, Project> => ({ name: "project.visible", allows, ...(where === undefined ? {} : { where }) });
const handler = () => tableHandler(database.selectFrom("projects").selectAll());
const check = async (rule: AgreementRule<User, Project>, options: Partial<AgreementOptions<User, Project>> = {}) =>
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
      "For users[0], only `allows` includes the rows with id 1; id 4; id 7; id 10; id 13; id 16; id 19; id 22; id 25; id 28.",
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
      seen.add(ctx);
      return isAllowed(user, row);
    });

    await check(rule, { ctx: "a context" });

    expect([...seen]).toEqual(["a context"]);
  });

  it.each<[reason: string, rule: AgreementRule<User, Project>, options: Partial<AgreementOptions<User, Project>>]>([
    ["there are no users", ruleOf(), { users: [] }],
    ["there are no rows", ruleOf(), { rows: [] }],
    ["there are no rows", ruleOf(), { handler: tableHandler(database.selectFrom("empty").selectAll()) }],
    ["no user is allowed a row", ruleOf(), { users: [eve] }],
    [
      "no user is refused a row",
      ruleOf(),
      { users: [{ teams: ["red"] }], rows: projects.filter(({ team }) => team === "red") },
    ],
  ])("throws if %s", async (reason, rule, options) => {
    await expect(check(rule, options)).rejects.toThrow(
      `expectAgreement proves nothing about the rule project.visible: ${reason}`,
    );
  });

  it("throws if there is nothing to compare", async () => {
    const { where: _where, ...half } = ruleOf();
    const list = new SyncListDataHandler(projects) as unknown as ReturnType<typeof handler>;

    await expect(check(half)).rejects.toThrow("the rule project.visible has no `where` to compare with `allows`");
    await expect(check(ruleOf(), { handler: list })).rejects.toThrow(
      "the data handler SyncListDataHandler has no scopedTo, so `where` cannot restrict it",
    );
  });
});
