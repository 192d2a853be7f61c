import { type Condition, every, type Gate, isEqual, isNull, not, PorticoApp, rule, some } from "portico";
import { AuthenticationMiddleware, SimpleUser, useAuth } from "portico/auth";
import { AsyncDataHandler, type Scopable } from "portico/pagination";
import { logCatcher, testClient } from "portico/testing";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { HeaderBackend } from "../../auth/backends/recording-backend.ts";

interface Row {
  readonly org: string;
}
type AnyGate = Gate<any, any, any>;

const byColumn = (): AnyGate =>
  rule<Row>({ name: "row.column", allows: () => true, where: ({ identity }) => isEqual("org", identity) });
const byOther = (): AnyGate => rule<Row>({ name: "row.other", allows: () => true, where: () => isNull("org") });
const forAll = (): AnyGate =>
  rule<Row>({ name: "row.open", allows: () => true, where: () => isEqual("org", "open"), anonymous: true });
const byCode = (): AnyGate => rule<Row>({ name: "row.code", allows: () => true });
const yes = (): boolean => true;
const no = (): boolean => false;
const yesLater = async (): Promise<boolean> => true;
const noLater = async (): Promise<boolean> => false;
const byPlace = ((_user: unknown, _place: unknown) => true) as unknown as AnyGate;
const failing = (): boolean => {
  throw new Error("the rules are unavailable");
};
const failingLater = async (): Promise<boolean> => failing();

/** A table that records the conditions it is restricted to. */
class Table extends AsyncDataHandler<Row> implements Scopable<Row> {
  readonly conditions: Condition["~condition"][] = [];
  scopedTo(condition: Condition): this {
    this.conditions.push(condition["~condition"]);
    return this;
  }
  async getTotalItems(): Promise<number> {
    return 0;
  }
  async getItems(): Promise<readonly Row[]> {
    return [];
  }
}

const userModel = { loadUser: async (name: string) => new SimpleUser(name, ["read"]) };
/** The headers of each caller. The backend fails for the last, who is neither signed in nor anonymous. */
const callers = { ann: { "x-jwt": "ann" }, anonymous: {}, unknown: { "x-jwt": "!" } } as const;

/** The condition that the gate puts on a table, or the status of the error, or the log message for a 500. */
async function restriction(gate: AnyGate, caller: keyof typeof callers): Promise<unknown> {
  const table = new Table();
  const log = logCatcher();
  const paginated = { strategy: "page_number", item: z.object({ org: z.string() }), rule: gate } as never;
  const app = new PorticoApp({ logger: log })
    .use(new AuthenticationMiddleware({ userModel, backend: new HeaderBackend("jwt") }))
    .get("/rows", { paginated }, ({ response }) => response.apaginate(table, { strategy: "page_number" }));
  const { status } = await testClient(app).get("/rows", { headers: callers[caller] });
  if (status === 200) return table.conditions[0];
  return status === 500 ? log.lines.findLast(({ level }) => level === "error")?.msg : status;
}

const [own, empty, open] = [
  { kind: "equal", column: "org", value: "ann" },
  { kind: "null", column: "org" },
  { kind: "equal", column: "org", value: "open" },
];
const [always, never] = [{ kind: "always" }, { kind: "never" }];
const undecided = expect.stringContaining("without a condition: add `where` to the rule");

describe("the condition that a gate puts on a table, for a signed-in user", () => {
  it.each<[string, () => AnyGate, unknown]>([
    ["rule", () => byColumn(), own],
    ["open rule", () => forAll(), open],
    ["not(rule)", () => not(byColumn()), { kind: "not", of: own }],
    ["every(true, rule)", () => every(true, byColumn()), own],
    ["every(rule, other)", () => every(byColumn(), byOther()), { kind: "all", of: [own, empty] }],
    ["every(yes later, rule)", () => every(yesLater, byColumn()), own],
    ["every(yes, yes later)", () => every(yes, yesLater), always],
    ["every(no, rule)", () => every(no, byColumn()), never],
    ["every(rule, no later)", () => every(byColumn(), noLater), never],
    ["every(by code, no)", () => every(byCode(), no), never],
    ["every(no, by code)", () => every(no, byCode()), never],
    ["every(no, failing)", () => every(no, failing), never],
    ["some(rule, other)", () => some(byColumn(), byOther()), { kind: "any", of: [own, empty] }],
    ["some(no, rule)", () => some(no, byColumn()), own],
    ["some(no, no later)", () => some(no, noLater), never],
    ["some(rule, yes)", () => some(byColumn(), yes), always],
    ["some(by code, yes later)", () => some(byCode(), yesLater), always],
    ["some(failing, yes)", () => some(failing, yes), always],
    ["some(failing later, yes later)", () => some(failingLater, yesLater), always],
    ["not(yes)", () => not(yes), never],
    ["not(no later)", () => not(noLater), always],
    ["a permission", () => useAuth({ permissions: ["read"] }), always],
    ["a missing permission", () => useAuth({ permissions: ["write"] }), never],
    ["some(missing permission, rule)", () => some(useAuth({ permissions: ["write"] }), byColumn()), own],
    ["every(some(no, rule), other)", () => every(some(no, byColumn()), byOther()), { kind: "all", of: [own, empty] }],
  ])("is that of the columns: %s", async (_text, make, expected) => {
    expect(await restriction(make(), "ann")).toEqual(expected);
  });

  it.each<[string, () => AnyGate]>([
    ["by code", () => byCode()],
    ["not(by code)", () => not(byCode())],
    ["every(rule, by code)", () => every(byColumn(), byCode())],
    ["every(by code, failing)", () => every(byCode(), failing)],
    ["some(by code, rule)", () => some(byCode(), byColumn())],
    ["some(no, by place)", () => some(no, byPlace)],
    ["some(failing, by code)", () => some(failing, byCode())],
    ["every(by place, rule)", () => every(byPlace, byColumn())],
  ])("does not exist if more than columns decide: %s", async (_text, make) => {
    expect(await restriction(make(), "ann")).toEqual(undecided);
  });

  it.each<[string, () => AnyGate]>([
    ["every(yes, failing)", () => every(yes, failing)],
    ["every(failing, no)", () => every(failing, no)],
    ["every(failing later, no)", () => every(failingLater, no)],
    ["every(rule, failing)", () => every(byColumn(), failing)],
    ["some(failing, rule)", () => some(failing, byColumn())],
    ["some(rule, failing later)", () => some(byColumn(), failingLater)],
    ["not(failing)", () => not(failing)],
    ["not(failing later)", () => not(failingLater)],
  ])("is an error if a member that matters fails: %s", async (_text, make) => {
    expect(await restriction(make(), "ann")).toBe(403);
  });

  it.each<[string, () => Condition, unknown]>([
    ["every()", () => every(isEqual("org", "ann"), isNull("org")), { kind: "all", of: [own, empty] }],
    ["some()", () => some(isEqual("org", "ann"), isNull("org")), { kind: "any", of: [own, empty] }],
    ["not()", () => not(isEqual("org", "ann")), { kind: "not", of: own }],
  ])("may be combined in the rule by %s", async (_text, where, expected) => {
    const combined = rule<Row>({ name: "row.combined", allows: () => true, where: where as () => Condition<"org"> });

    expect(await restriction(combined, "ann")).toEqual(expected);
  });

  it("must be a condition from Portico", async () => {
    const broken = rule<Row>({ name: "row.broken", allows: () => true, where: (() => ({ org: "ann" })) as never });

    expect(await restriction(broken, "ann")).toContain(
      'the where of the rule row.broken must return a condition, such as isIn("organisation_id", ids)',
    );
  });
});

describe("the condition that a gate puts on a table, for other callers", () => {
  it.each<[string, () => AnyGate, unknown, unknown]>([
    ["rule", () => byColumn(), never, 503],
    ["by code", () => byCode(), never, 503],
    ["open rule", () => forAll(), open, 503],
    ["not(rule)", () => not(byColumn()), always, 503],
    ["some(rule, open rule)", () => some(byColumn(), forAll()), open, 503],
    ["every(rule, open rule)", () => every(byColumn(), forAll()), never, 503],
    ["yes", () => every(yes), never, 503],
    ["not(yes)", () => not(yes), always, 503],
    ["useAuth()", () => useAuth(), never, 503],
    ["optional", () => useAuth({ required: false }), always, always],
    ["some(optional, rule)", () => some(useAuth({ required: false }), byColumn()), always, always],
  ])("treats an anonymous caller and an unknown one differently: %s", async (_text, make, forAnonymous, forUnknown) => {
    expect(await restriction(make(), "anonymous")).toEqual(forAnonymous);
    expect(await restriction(make(), "unknown")).toEqual(forUnknown);
  });
});
