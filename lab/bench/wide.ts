import { randomUUID } from "node:crypto";
import type { Kysely } from "kysely";
import { connection, Graph, type ObjectType, object, schema, t } from "../../src/graphql/index.ts";
import { PorticoApp } from "../../src/index.ts";
import { CursorPagination } from "../../src/pagination/index.ts";
import { tableHandler } from "../../src/sql/index.ts";
import { type TestClient, testClient } from "../../src/testing/index.ts";
import { type ColumnType, createTable, type Engine, engineNames, insertRows, openEngine } from "../servers/engines.ts";

/** The columns that the schema exposes. */
interface WideRow {
  readonly id: number;
  readonly parent_id: number;
  readonly rank: number;
  readonly n1: number;
  readonly w1: string;
}
interface ParentRow {
  readonly id: number;
}
interface Tables {
  readonly parents: ParentRow;
  readonly wide: WideRow;
}

const isShort = process.argv.includes("--short");
const ROUNDS = isShort ? 10 : 60;
const WARM_UP = 5;
const PARENTS = 20;
const CHILDREN = 50;
/** With `id`, `parent_id` and `rank`, 60 columns. Four of them hold texts of 2 kB. */
const NUMBERS = Array.from({ length: 33 }, (_, index) => `n${index}`);
const WORDS = Array.from({ length: 20 }, (_, index) => `w${index}`);
const TEXTS = ["t0", "t1", "t2", "t3"];
const LONG = "lorem ipsum dolor sit amet, consectetur ".repeat(50).slice(0, 2_000);

const byRank = new CursorPagination({ order: [["rank", "desc"]], defaultPageSize: 100, maxPageSize: 100 });
const byId = new CursorPagination({ defaultPageSize: PARENTS });

interface Way {
  readonly name: string;
  readonly client: TestClient;
  readonly wall: number[];
  readonly cpu: number[];
}

/**
 * 100 rows of a table with 60 columns, of which a query selects three, and the first five rows of 20 parents: with all
 * columns, and with `columns: "selected"`. Every round runs both. CPU is that of this process. Bytes are those of the
 * values that the driver returns, as JSON.
 */
export async function run(): Promise<void> {
  for (const name of engineNames) {
    const engine = await openEngine(name, `portico_wide_bench_${randomUUID().slice(0, 8)}`);
    try {
      await fill(engine);
      console.log(`\n${name}`);
      await compare(engine, "100 rows, 3 fields", "{ wide { nodes { id n1 w1 } pageInfo { endCursor } } }");
      await compare(engine, "20 lists of 5 rows", "{ parents { nodes { wide(first: 5) { nodes { id n1 w1 } } } } }");
    } finally {
      await engine.close();
    }
  }
}

async function compare(engine: Engine, what: string, query: string): Promise<void> {
  const ways = [undefined, "selected" as const].map(
    (columns): Way => ({ name: columns ?? "all", client: serve(engine.database, columns), wall: [], cpu: [] }),
  );
  const responses = new Set<string>();
  for (let round = 0; round < WARM_UP + ROUNDS; round++)
    for (const way of ways) responses.add(await measureOnce(way, query, round >= WARM_UP));
  if (responses.size !== 1)
    throw new Error(`the responses differ: ${[...responses].map((text) => text.slice(0, 300)).join("\n")}`);
  const [all] = ways as [Way, Way];
  for (const way of ways) {
    const bytes = await bytesRead(engine, way, query);
    console.log(
      `  ${what}, ${way.name.padEnd(8)} ${median(way.wall).toFixed(2).padStart(7)} ms  ${median(way.cpu).toFixed(2).padStart(7)} ms CPU  ${(bytes / 1_024).toFixed(1).padStart(7)} kB  x ${(median(way.wall) / median(all.wall)).toFixed(2)} time, x ${(median(way.cpu) / median(all.cpu)).toFixed(2)} CPU`,
    );
  }
}

async function measureOnce({ client, wall, cpu }: Way, query: string, isCounted: boolean): Promise<string> {
  const before = process.cpuUsage();
  const start = performance.now();
  const response = await client.post("/graphql", { body: { query } });
  const time = performance.now() - start;
  const { user, system } = process.cpuUsage(before);
  const text = JSON.stringify(response.json());
  if (text.includes('"errors"')) throw new Error(text);
  if (isCounted) {
    wall.push(time);
    cpu.push((user + system) / 1_000);
  }
  return text;
}

/** Runs the statements of an operation again, and counts the bytes of their rows. */
async function bytesRead(engine: Engine, { client }: Way, query: string): Promise<number> {
  engine.statements.length = 0;
  await client.post("/graphql", { body: { query } });
  const statements = engine.statements.slice();
  let bytes = 0;
  for (const { sql, parameters } of statements) {
    const query = { sql, parameters, query: { kind: "RawNode" }, queryId: { queryId: randomUUID() } } as never;
    const { rows } = await engine.database.executeQuery(query);
    bytes += Buffer.byteLength(JSON.stringify(rows));
  }
  return bytes;
}

const columnsOf = (names: readonly string[], type: ColumnType) => names.map((name) => [name, type] as const);

async function fill(engine: Engine): Promise<void> {
  const columns: Record<string, ColumnType> = Object.fromEntries([
    ["id", "key"],
    ["parent_id", "int"],
    ["rank", "int"],
    ...columnsOf(NUMBERS, "int"),
    ...columnsOf(WORDS, "text"),
    ...columnsOf(TEXTS, "long"),
  ]);
  await createTable(engine, "parents", { id: "key" });
  await createTable(engine, "wide", columns, ["rank, id", "parent_id, rank, id"]);
  const ids = Array.from({ length: PARENTS }, (_, id) => ({ id }));
  await insertRows(engine, "parents", ids);
  const rows = Array.from({ length: PARENTS * CHILDREN }, (_, id) => ({
    id,
    parent_id: id % PARENTS,
    rank: (id * 7) % 1_013,
    ...Object.fromEntries(NUMBERS.map((name, index) => [name, id + index])),
    ...Object.fromEntries(WORDS.map((name, index) => [name, `word ${id} ${index}`])),
    ...Object.fromEntries(TEXTS.map((name) => [name, LONG])),
  }));
  for (let start = 0; start < rows.length; start += 100)
    await insertRows(engine, "wide", rows.slice(start, start + 100));
}

function serve(database: Kysely<Tables>, columns: "selected" | undefined): TestClient {
  const chosen = columns === undefined ? {} : { columns };
  const Wide: ObjectType<WideRow> = object("Wide", { id: t.int, n1: t.int, w1: t.string });
  const rows = () => tableHandler(database.selectFrom("wide").selectAll());
  const Parent: ObjectType<ParentRow> = object("Parent", {
    wide: connection(Wide, byRank, { parent: { parent_id: "id" }, ...chosen })(rows),
  });
  const query = {
    wide: connection(Wide, byRank, chosen)(rows),
    parents: connection(Parent, byId, chosen)(() => tableHandler(database.selectFrom("parents").selectAll())),
  };
  const app = new PorticoApp({ logger: false, cursorKeys: ["a secret of at least thirty-two bytes"] });
  new Graph(schema({ query }), { limits: { cost: null } }).mount(app);
  return testClient(app);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
