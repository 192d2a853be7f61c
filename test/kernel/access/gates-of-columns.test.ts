import { type Condition, every, type Gate, not, PorticoApp, rule, some } from "portico";
import { SimpleUser, useAuth } from "portico/auth";
import { connection, type FieldPermission, field, Graph, type ObjectType, object, schema, t } from "portico/graphql";
import { AsyncDataHandler, CursorPagination, type Scopable, type Selecting } from "portico/pagination";
import { testClient } from "portico/testing";
import { describe, expect, it } from "vitest";

interface Row {
  readonly id: number;
  readonly org: string;
  readonly price: number;
}
type AnyGate = Gate<any, any, any>;

// Each gate is made in its test, because making it is part of the test.
const byOrg = (): AnyGate => rule<Row>({ name: "row.org", allows: () => true, reads: ["org"] });
const byId = (): AnyGate => rule<Row>({ name: "row.id", allows: () => true, reads: ["id"] });
const byAll = (): AnyGate => rule<Row>({ name: "row.all", allows: () => true });
const ofCaller = (): AnyGate => ((_user: unknown) => true) as unknown as AnyGate;
const ofPlace = (): AnyGate => ((_user: unknown, _place: unknown) => true) as unknown as AnyGate;
const ownCheck = (): AnyGate => ({ required: true, scopes: [], check: () => {} });

class Grant implements FieldPermission {
  hasPermission(): boolean {
    return true;
  }
}

/** The type of the rows, with this gate on the field `price`. */
const rowWith = (auth: AnyGate, options: object = {}): ObjectType<Row> =>
  object("Row", { id: t.int, price: field(t.int, { auth: auth as never, ...options }) });

/** Records the columns that a connection selects. */
class Table extends AsyncDataHandler<Row> implements Scopable<Row>, Selecting<Row> {
  readonly selected: (readonly string[])[] = [];
  selecting(columns: readonly string[]): this {
    this.selected.push(columns);
    return this;
  }
  scopedTo(_condition: Condition): this {
    return this;
  }
  async getTotalItems(): Promise<number> {
    return 1;
  }
  async getItems(): Promise<readonly Row[]> {
    return [{ id: 1, org: "a", price: 7 }];
  }
}

describe('the columns of a connection with columns: "selected"', () => {
  /** The columns for a selection of `price`; `undefined` for all of them. */
  async function columnsFor(auth: AnyGate, options: object = {}): Promise<unknown> {
    const table = new Table();
    const rows = connection(rowWith(auth, options), new CursorPagination(), { columns: "selected" })(() => table);
    const app = new PorticoApp({ logger: false });
    new Graph(schema({ query: { rows } })).mount(app);
    const { errors } = await testClient(app).as(new SimpleUser("ann")).graphql("{ rows { nodes { price } } }");
    expect(errors).toBeUndefined();
    return table.selected[0];
  }

  it.each<[string, () => AnyGate, readonly string[]]>([
    ["useAuth()", () => useAuth(), []],
    ["a check of the application", ownCheck, []],
    ["a function of the user", ofCaller, []],
    ["not(not(function))", () => not(not(ofCaller())), []],
    ["every(true, function)", () => every(true, ofCaller()), []],
    ["rule", byOrg, ["org"]],
    ["not(not(rule))", () => not(not(byOrg())), ["org"]],
    ["every(true, rule)", () => every(true, byOrg()), ["org"]],
    ["every(rule, other)", () => every(byOrg(), byId()), ["id", "org"]],
    ["some(rule, other)", () => some(byOrg(), byId()), ["id", "org"]],
  ])("include those that the gate of a field reads: %s", async (_text, make, columns) => {
    expect(await columnsFor(make())).toEqual([...columns, "price"]);
  });

  it.each<[string, () => AnyGate]>([
    ["a rule without reads", byAll],
    ["a function of the place", ofPlace],
    ["every(rule, rule without reads)", () => every(byOrg(), byAll())],
    ["some(rule without reads, rule)", () => some(byAll(), byOrg())],
    ["not(not(rule without reads))", () => not(not(byAll()))],
    ["every(true, function of the place)", () => every(true, ofPlace())],
  ])("are all if it is unknown which of them a gate reads: %s", async (_text, make) => {
    expect(await columnsFor(make())).toBeUndefined();
  });

  it("are all if a permission class decides, unless the field says what it reads", async () => {
    expect(await columnsFor(useAuth(), { permissionClasses: [Grant] })).toBeUndefined();
    expect(await columnsFor(useAuth(), { permissionClasses: [Grant], reads: ["org"] })).toEqual(["org", "price"]);
  });
});

describe("a sortable column whose field has a gate", () => {
  const sorted =
    (auth: AnyGate, options: object = {}) =>
    (): unknown => {
      const byPrice = new CursorPagination({ sortField: "id", sortable: { price: "price" } });
      return schema({ query: { rows: connection(rowWith(auth, options), byPrice)(() => []) } });
    };

  it.each<[string, () => AnyGate]>([
    ["useAuth()", () => useAuth()],
    ["a check of the application", ownCheck],
    ["a function of the user", ofCaller],
    ["not(function)", () => not(ofCaller())],
    ["every(true, function)", () => every(true, ofCaller())],
    ["some(function, permission)", () => some(ofCaller(), useAuth({ permissions: ["read"] }))],
  ])("needs one that decides about the caller alone: %s", (_text, make) => {
    expect(sorted(make())).not.toThrow();
  });

  it.each<[string, () => AnyGate]>([
    ["rule", byOrg],
    ["a function of the place", ofPlace],
    ["not(rule)", () => not(byOrg())],
    ["every(true, rule)", () => every(true, byOrg())],
    ["every(rule, true)", () => every(byOrg(), true)],
    ["some(true, rule)", () => some(true, byOrg())],
    ["some(true, function of the place)", () => some(true, ofPlace())],
  ])("cannot have one that needs an object: %s", (_text, make) => {
    expect(sorted(make())).toThrow("the gate of Row.price needs an object to decide about");
  });

  it("cannot have a permission class, which receives the object", () => {
    expect(sorted(useAuth(), { permissionClasses: [Grant] })).toThrow("the gate of Row.price needs an object");
  });
});
