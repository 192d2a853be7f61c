import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigurationError } from "../../src/core/configuration-error.ts";
import { KEYS, type KeyedRows, type KeyTuple } from "../../src/pagination/keys/key-tuple.ts";
import type { Order } from "../../src/pagination/order.ts";
import { type TableHandler, tableHandler } from "../../src/sql/index.ts";
import { type Engine, type EngineName, openEngine } from "../../test/sql/engines.ts";
import { expectedShape, type ShapeRow } from "./expected-shape.ts";
import { kyselyShape } from "./kysely-shape.ts";
import { generateShapes, isJoin, isRelated, type ShapeCase } from "./shape-case.ts";
import { filterCondition, ruleCondition } from "./shape-conditions.ts";
import { createShapeTables, parents } from "./shape-tables.ts";

type Row = Readonly<Record<string, unknown>>;
type Handler = TableHandler<Row, string>;

/** The list of a case, or `null` if the query builder has no such query. */
export type OpenShape = (engine: Engine) => { handlerOf(shape: ShapeCase): Handler | null; close(): Promise<void> };

export const shapesOfKysely: OpenShape = (engine) => ({
  handlerOf: (shape) => tableHandler(kyselyShape(engine, shape)) as Handler,
  close: async () => {},
});

/** The outcome of many cases. */
export interface ShapeReport {
  readonly checked: number;
  /** Cases whose query selects a name twice, which is refused. */
  readonly refused: number;
  readonly wrong: readonly { readonly shape: ShapeCase; readonly reason: string }[];
}

/**
 * Generates queries with a rule, a filter and an order, and compares their rows and totals with what JavaScript finds: by
 * cursor both ways, by offset, nested and counted.
 *
 * @param isLoose whether MariaDB has its default collation instead of a binary one
 */
export async function checkShapes(
  name: EngineName,
  { count, seed, isLoose = false }: { readonly count: number; readonly seed: number; readonly isLoose?: boolean },
  open: OpenShape = shapesOfKysely,
): Promise<ShapeReport> {
  const schema = `portico_shapes_${randomUUID().slice(0, 8)}`;
  const engine = await openEngine(name, schema, join(tmpdir(), `${schema}.sqlite`));
  const source = open(engine);
  try {
    await createShapeTables(engine, isLoose);
    const wrong: { shape: ShapeCase; reason: string }[] = [];
    let checked = 0;
    let refused = 0;
    for (const shape of generateShapes(count, seed)) {
      const outcome = await examine(name, shape, source.handlerOf.bind(source));
      if (outcome === "refused") refused++;
      else if (outcome === "checked") checked++;
      else if (outcome !== null) wrong.push({ shape, reason: outcome });
    }
    return { checked, refused, wrong };
  } finally {
    await source.close();
    await engine.close();
  }
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
    const difference = await compare(handler, shape, expectedShape(engine, shape));
    if (difference !== null) return difference;
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

async function compare(handler: Handler, shape: ShapeCase, expected: readonly ShapeRow[]): Promise<string | null> {
  const { column, direction } = shape.sort;
  const order: Order =
    column === "id"
      ? [["id", direction]]
      : [
          [column, direction],
          ["id", "asc"],
        ];
  const ids = expected.map(({ id }) => id);
  const forward = await walked(handler, order, "forward", shape.size);
  const field = fieldOf(shape);
  const values = forward.map((row) => [row["id"], row[field], row["rank"]]);
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
    ["rows backward", idsOf(await walked(handler, order, "backward", shape.size)), ids.toReversed()],
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
