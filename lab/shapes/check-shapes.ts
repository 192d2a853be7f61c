import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigurationError } from "../../src/core/configuration-error.ts";
import { KEYS, type KeyedRows, type KeyTuple } from "../../src/pagination/keys/key-tuple.ts";
import type { Order } from "../../src/pagination/keys/order.ts";
import { type TableHandler, tableHandler } from "../../src/sql/index.ts";
import { type Engine, type EngineName, openEngine } from "../servers/engines.ts";
import { expectedShape, type ShapeRow } from "./expected-shape.ts";
import { kyselyShape } from "./kysely-shape.ts";
import { generateShapes, isJoin, isRelated, type ListCase, type ShapeCase } from "./shape-case.ts";
import { filterCondition, ruleCondition } from "./shape-conditions.ts";
import { createShapeTables, parents } from "./shape-tables.ts";

type Row = Readonly<Record<string, unknown>>;
export type Handler = TableHandler<Row, string>;

/** The list of a case, or `null` if the query builder has no such query. */
export type OpenShape = (engine: Engine) => { handlerOf(shape: ShapeCase): Handler | null; close(): Promise<void> };

export const shapesOfKysely: OpenShape = (engine) => ({
  handlerOf: (shape) => tableHandler(kyselyShape(engine, shape)) as Handler,
  close: async () => {},
});

/** How many cases to check. */
export interface ShapeOptions {
  readonly count: number;
  readonly seed: number;
  /** Whether MariaDB has its default collation instead of a binary one. */
  readonly isLoose?: boolean;
}

/** The outcome of many cases. */
export interface ShapeReport<C> {
  readonly checked: number;
  /** Cases whose query selects a name twice, which is refused. */
  readonly refused: number;
  readonly wrong: readonly { readonly shape: C; readonly reason: string }[];
}

/** The outcome of generated cases. */
export interface GeneratedReport extends ShapeReport<ShapeCase> {
  /** Cases with a page that was merged from the index ranges of a rule's values. */
  readonly merged: number;
}

/**
 * Generates queries with a rule, a filter and an order, and compares their rows and totals with what JavaScript finds: by
 * cursor both ways, by offset, nested and counted.
 */
export async function checkShapes(
  name: EngineName,
  options: ShapeOptions,
  open: OpenShape = shapesOfKysely,
): Promise<GeneratedReport> {
  return onShapeTables(name, options, async (engine) => {
    const source = open(engine);
    let merged = 0;
    try {
      const report = await outcomes(shapes(options), options.count, async (shape) => {
        engine.statements.length = 0;
        const outcome = await examine(name, shape, source.handlerOf.bind(source));
        if (engine.statements.some(({ sql }) => isMerged(sql))) merged++;
        return outcome;
      });
      return { ...report, merged };
    } finally {
      await source.close();
    }
  });
}

/** Whether a statement merges the rows of a rule's values: it compares their texts exactly. */
function isMerged(sql: string): boolean {
  return sql.includes('collate "C" = "~parents"');
}

/** Runs checks on an engine with the tables of the shapes, in a schema of its own. */
export async function onShapeTables<R>(
  name: EngineName,
  { isLoose = false }: ShapeOptions,
  check: (engine: Engine) => Promise<R>,
): Promise<R> {
  const schema = `portico_shapes_${randomUUID().slice(0, 8)}`;
  const engine = await openEngine(name, schema, join(tmpdir(), `${schema}.sqlite`));
  try {
    await createShapeTables(engine, isLoose);
    return await check(engine);
  } finally {
    await engine.close();
  }
}

/** Shapes without an end, because a query builder may have no query for some of them. */
function* shapes({ count, seed }: ShapeOptions): Generator<ShapeCase, never> {
  for (let part = 0; ; part++) yield* generateShapes(count, seed + part);
}

/** Examines so many cases. The outcome `null` is a case that there is no query for, and any other text a fault. */
export async function outcomes<C>(
  cases: Iterable<C>,
  count: number,
  examined: (one: C) => Promise<string | null>,
): Promise<ShapeReport<C>> {
  const wrong: { shape: C; reason: string }[] = [];
  let checked = 0;
  let refused = 0;
  if (count === 0) return { checked, refused, wrong };
  for (const shape of cases) {
    const outcome = await examined(shape);
    if (outcome === "refused") refused++;
    else if (outcome === "checked") checked++;
    else if (outcome !== null) wrong.push({ shape, reason: outcome });
    if (checked + refused + wrong.length === count) break;
  }
  return { checked, refused, wrong };
}

async function examine(
  engine: EngineName,
  shape: ShapeCase,
  handlerOf: (shape: ShapeCase) => Handler | null,
): Promise<string | null> {
  const isHidden = shape.source === "with like the related table" && isRelated(shape.rule) && isLooked(shape);
  try {
    const whole = handlerOf(shape);
    if (whole === null) return null;
    const ruled = whole.scopedTo(ruleCondition(shape.rule, fieldOf(shape)));
    const handler = shape.filter === null ? ruled : ruled.scopedTo(filterCondition(shape.filter));
    const difference = await compare(handler, shape, fieldOf(shape), expectedShape(engine, shape));
    // The rows of a driver have one value for a name that is selected twice. Which of the two is not the list's to decide.
    if (difference !== null) return isJoin(shape) && shape.selection === "all" ? null : difference;
    return isHidden ? "a table of WITH hid the related one, and was not refused" : "checked";
  } catch (error) {
    const isRefusal = error instanceof ConfigurationError || /duplicate column|ambiguous/i.test(String(error));
    return isRefusal && (isHidden || isRepeated(shape)) ? "refused" : `${shape.source}: ${String(error)}`;
  }
}

/** Whether the rule looks up the table of members, which WITH hides. */
function isLooked(shape: ShapeCase): boolean {
  return JSON.stringify(shape.rule).includes("member");
}

/** Whether the select clause has a name twice. */
function isRepeated(shape: ShapeCase): boolean {
  const { selection } = shape;
  return (
    selection.includes("then") || (isJoin(shape) && (selection === "all" || selection === "all of the joined table"))
  );
}

function isNamed({ selection }: ShapeCase): boolean {
  return selection === "names" || selection === "all, then names";
}

function fieldOf(shape: ShapeCase): string {
  return shape.organisation === "renamed" && isNamed(shape) ? "org" : "organisation_id";
}

/**
 * Compares everything that a list has with its expected rows: pages both ways, by offset and below parents, and totals.
 *
 * @param field the name that the rows have the organisation under
 */
export async function compare(
  handler: Handler,
  list: ListCase,
  field: string,
  expected: readonly ShapeRow[],
): Promise<string | null> {
  const { column, direction } = list.sort;
  const order: Order =
    column === "id"
      ? [["id", direction]]
      : [
          [column, direction],
          ["id", "asc"],
        ];
  const ids = expected.map(({ id }) => id);
  const forward = await walked(handler, order, "forward", list.size);
  const values = forward.map((row) => [
    row["id"],
    typeof row[field] === "number" ? String(row[field]) : row[field],
    asNumber(row["rank"]),
  ]);
  const rows = expected.map(({ id, organisation, rank }) => [id, organisation, rank]);
  const below = parents.map((parent) => expected.filter(({ parent_id }) => parent_id === parent).map(({ id }) => id));
  const keys = parents.map((parent) => ({ parent_id: parent }));
  const nested = await handler.getItemsBelow(
    keys.map((parent) => ({ parent, key: null })),
    { order, direction: "forward" },
    50,
  );
  const differences: readonly (readonly [string, unknown, unknown])[] = [
    ["rows", values, rows],
    ["rows backward", idsOf(await walked(handler, order, "backward", list.size)), ids.toReversed()],
    ["total", await handler.getTotalItems(), ids.length],
    ["total up to 3", await handler.countUpTo(3), Math.min(3, ids.length)],
    ["estimate", await handler.estimateTotalItems(), ids.length],
    ["rows by offset", idsOf(await handler.getItems(0, 50)), ids.toSorted((one, other) => one - other)],
    ["nested rows", nested.map((list) => (list instanceof Error ? String(list) : idsOf(list))), below],
    ["nested totals", (await handler.countBelow(keys, null)).map(String), below.map(({ length }) => String(length))],
  ];
  for (const [what, found, wanted] of differences) {
    const [seen, right] = [JSON.stringify(found), JSON.stringify(wanted)];
    if (seen !== right) return `${what}: ${seen} instead of ${right}`;
  }
  return null;
}

/** Some drivers return large integer types, such as that of `row_number()`, as text. */
export function asNumber(value: unknown): number | null {
  return value === null ? null : Number(value);
}

function idsOf(rows: readonly Row[]): readonly unknown[] {
  return rows.map((row) => row["id"]);
}

async function walked(
  handler: Handler,
  order: Order,
  direction: "forward" | "backward",
  size: number,
): Promise<readonly Row[]> {
  const seen: Row[] = [];
  let key: KeyTuple | null = null;
  for (;;) {
    const page = (await handler.getItemsAfter({ order, key, direction }, size)) as KeyedRows<Row>;
    seen.push(...page);
    // A walk that does not advance would never end.
    if (page.length < size || seen.length > 100) return seen;
    key = page[KEYS]?.(page.length - 1) ?? null;
  }
}
