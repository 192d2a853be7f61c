import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { CompiledQuery, sql } from "kysely";
import type { KeyTuple, Order } from "../../src/pagination/index.ts";
import { type TableHandler, tableHandler } from "../../src/sql/index.ts";
import { type Engine, openEngine } from "../servers/engines.ts";

const isShort = process.argv.includes("--short");
const ROWS = isShort ? 200_000 : 10_000_000;
const PARENTS = 1_000;
/** The parents whose pages one statement reads. */
const BATCH = 100;
const SOURCES = 200;
/** A page of 20 rows, and the row that says whether there is a next page. */
const LIMIT = 21;
const RESULTS = "lab/bench/results/deep.json";
const newest: Order = [
  ["created_at", "desc"],
  ["id", "desc"],
];

/** The list that is not expected to be flat. */
const FILTERED = `${SOURCES} sources with \`in\``;
/** Reads a page. */
type Page = (depth: number, direction: "forward" | "backward") => Promise<void>;

/** What the pages of a list cost. */
export interface DeepFigure {
  readonly list: string;
  /** How many rows come before the page. */
  readonly depth: number;
  readonly direction: "forward" | "backward";
  /** Blocks of 8 kB, from the cache or from the disk. */
  readonly buffers: number;
  /** The rows that the scans returned. */
  readonly rows: number;
  readonly milliseconds: number;
}

export interface DeepResults {
  readonly postgres: string;
  readonly rows: number;
  readonly parents: number;
  readonly batch: number;
  readonly sources: number;
  readonly figures: readonly DeepFigure[];
}

/**
 * Deep pages of a table with ten million rows, in both directions: a list, the lists of 100 parents in one statement,
 * and the newest rows of 200 sources that have been quiet for half of the table. PostgreSQL reports what it read.
 */
export async function run(): Promise<void> {
  const engine = await openEngine("PostgreSQL", `portico_deep_${randomUUID().slice(0, 8)}`);
  try {
    await fill(engine);
    const figures = [...(await wholeList(engine)), ...(await nestedLists(engine)), ...(await fromSources(engine))];
    const { rows } = await sql<{ server_version: string }>`show server_version`.execute(engine.database);
    const postgres = rows[0]?.server_version.split(" ")[0] ?? "";
    const results: DeepResults = { postgres, rows: ROWS, parents: PARENTS, batch: BATCH, sources: SOURCES, figures };
    if (!isShort) writeFileSync(RESULTS, `${JSON.stringify(results, null, 2)}\n`);
    const flat = figures.filter(({ list }) => list !== FILTERED);
    const worst = Math.max(...[...Map.groupBy(flat, ({ list }) => list).values()].map(growth));
    console.log(
      `deep: ${ROWS} rows, the dearest deep page reads ${worst.toFixed(2)} times the buffers of the first page`,
    );
  } finally {
    await engine.close();
  }
}

/** A row is as old as its id is small. In the older half, a source has one row in 200; the newer half has other sources. */
async function fill({ database }: Engine): Promise<void> {
  const run = (text: string): Promise<unknown> => sql.raw(text).execute(database);
  await run(
    "create unlogged table entries (id bigint not null, parent_id integer not null, source_id integer not null, created_at timestamptz not null, title text not null)",
  );
  await run(
    `insert into entries select id, id % ${PARENTS}, case when id <= ${ROWS / 2} then id % ${SOURCES} else ${SOURCES} + id % ${SOURCES} end, timestamptz '2020-01-01 00:00:00+00' + (id / 3) * interval '1 second', 'Entry ' || id from generate_series(1, ${ROWS}) as id`,
  );
  for (const columns of ["id", "created_at, id", "parent_id, created_at, id", "source_id, created_at, id"])
    await run(`create index on entries (${columns})`);
  await run("vacuum analyze entries");
}

async function wholeList(engine: Engine): Promise<readonly DeepFigure[]> {
  const handler = tableHandler(engine.database.selectFrom("entries").selectAll());
  return measure(engine, "one list", [0, 1_000, ROWS / 100, ROWS / 2, ROWS - 1_000], async (depth, direction) => {
    const key = await keyAt(engine, ROWS - depth, depth);
    await handler.getItemsAfter({ order: newest, key, direction }, LIMIT);
  });
}

async function nestedLists(engine: Engine): Promise<readonly DeepFigure[]> {
  const handler = tableHandler(engine.database.selectFrom("entries").selectAll());
  const each = ROWS / PARENTS;
  const parents = Array.from({ length: BATCH }, (_, index) => 1 + index * (PARENTS / BATCH));
  return measure(engine, `lists of ${BATCH} parents`, [0, 50, each / 2, each - 50], async (depth, direction) => {
    const seeks = await Promise.all(
      parents.map(async (parent) => ({
        parent: { parent_id: parent },
        key: await keyAt(engine, parent + (each - depth) * PARENTS, depth),
      })),
    );
    await handler.getItemsBelow(seeks, { order: newest, direction }, LIMIT);
  });
}

async function fromSources(engine: Engine): Promise<readonly DeepFigure[]> {
  const values = Array.from({ length: SOURCES }, (_, index) => index);
  const entries = engine.database.selectFrom("entries").selectAll();
  const half = ROWS / 2;
  const pages = (handler: Pick<TableHandler<any>, "getItemsAfter">): Page => {
    return async (depth, direction) => {
      const key = await keyAt(engine, half - depth, depth);
      await handler.getItemsAfter({ order: newest, key, direction }, LIMIT);
    };
  };
  const merged = pages(tableHandler(entries, { among: { source_id: values } }));
  const filtered = pages(tableHandler(entries.where("source_id", "in", values)));
  return [
    ...(await measure(engine, `${SOURCES} sources`, [0, 1_000, half / 2, half - 1_000], merged)),
    ...(await measure(engine, FILTERED, [0], filtered)),
  ];
}

/** The key of a row, or none at the beginning of a list and, backward, at its end. */
async function keyAt({ database }: Engine, id: number, depth: number): Promise<KeyTuple | null> {
  if (depth === 0) return null;
  const { rows } = await sql<{ at: string }>`select created_at::text as at from entries where id = ${id}`.execute(
    database,
  );
  return [rows[0]?.at ?? null, String(id)];
}

/** Runs the pages, and asks the database what their statements cost. */
async function measure(
  engine: Engine,
  list: string,
  depths: readonly number[],
  page: Page,
): Promise<readonly DeepFigure[]> {
  const figures: DeepFigure[] = [];
  for (const direction of ["forward", "backward"] as const)
    for (const depth of depths) {
      await page(depth, direction);
      const { sql: text, parameters } = engine.statements.at(-1) as Engine["statements"][number];
      const explain = CompiledQuery.raw(`explain (analyze, buffers, format json) ${text}`, [...parameters]);
      // Once to fill the cache of the database.
      await engine.database.executeQuery(explain);
      const { rows } = await engine.database.executeQuery<{ "QUERY PLAN": readonly [Explained] }>(explain);
      const [explained] = rows.flatMap((row) => row["QUERY PLAN"]);
      if (explained === undefined) throw new Error("the database does not explain the statement");
      const { Plan: plan, "Execution Time": milliseconds } = explained;
      const buffers = plan["Shared Hit Blocks"] + plan["Shared Read Blocks"];
      const read = scansOf(plan).reduce((sum, scan) => sum + scan["Actual Rows"] * scan["Actual Loops"], 0);
      figures.push({ list, depth, direction, buffers, rows: Math.round(read), milliseconds });
      console.log(
        `${list.padEnd(20)} ${direction.padEnd(8)} at ${String(depth).padStart(8)}: ${String(buffers).padStart(6)} buffers, ${String(Math.round(read)).padStart(6)} rows, ${milliseconds.toFixed(2)} ms`,
      );
    }
  return figures;
}

/** How much more a deep page reads than the first page of its list. */
function growth(figures: readonly DeepFigure[]): number {
  const first = figures.find(({ depth }) => depth === 0)?.buffers ?? Number.NaN;
  return Math.max(...figures.map(({ buffers }) => buffers)) / first;
}

interface Explained {
  readonly Plan: PlanNode;
  readonly "Execution Time": number;
}

interface PlanNode {
  readonly "Relation Name"?: string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Shared Hit Blocks": number;
  readonly "Shared Read Blocks": number;
  readonly Plans?: readonly PlanNode[];
}

function scansOf(plan: PlanNode): readonly PlanNode[] {
  const below = (plan.Plans ?? []).flatMap(scansOf);
  return plan["Relation Name"] === undefined ? below : [plan, ...below];
}
