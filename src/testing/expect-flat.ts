import type { MaybePromise } from "../core/maybe-promise.ts";
import { optional, optionRule, resolveOptions } from "../core/resolve-options.ts";
import type { GraphResult } from "./graph-result.ts";
import type { TestResponse } from "./test-response.ts";
import type { StatementWatch, WatchedStatement } from "./watch-statements.ts";

/** The page sizes that `expectFlat` compares. */
export interface FlatOptions {
  /** At least two page sizes, in ascending order. @default [2, 20] */
  readonly sizes?: readonly number[];
}

/**
 * Checks that an operation or a request needs as many statements for a large page as for a small one, which rules out
 * N+1 queries. Throws an error that names the field or the route, the statement and the fix. It also throws if a
 * response is an error, and if a larger page did not return more, because that proves nothing.
 *
 * The smallest size runs once before anything is counted, so that caches are warm.
 *
 * @example
 * ```ts
 * import type { PorticoApp } from "portico";
 * import type { Database } from "portico/sql";
 * import { expectFlat, testClient, watchStatements } from "portico/testing";
 *
 * declare const app: PorticoApp;
 * declare const database: Database;
 * const client = testClient(app);
 * using watch = watchStatements(database);
 *
 * const document = "query ($first: Int) { authors(first: $first) { nodes { name books(first: 3) { nodes { title } } } } }";
 * await expectFlat(watch, (first) => client.graphql(document, { first }));
 * await expectFlat(watch, (page_size) => client.get("/books", { query: { page_size } }), { sizes: [5, 50] });
 * ```
 *
 * @param ask sends the operation or the request with a page size
 */
export async function expectFlat(
  watch: StatementWatch,
  ask: (size: number) => MaybePromise<GraphResult<unknown> | TestResponse>,
  options: FlatOptions = {},
): Promise<void> {
  const { sizes } = resolveOptions("expectFlat", options, rules);
  await measure(watch, ask, sizes[0] as number);
  const runs: Measured[] = [];
  for (const size of sizes) runs.push(await measure(watch, ask, size));
  const [small, large] = [runs[0], runs.at(-1)] as [Measured, Measured];
  if (large.items <= small.items)
    throw new Error(
      `expectFlat proves nothing: the response with size ${large.size} has no more items than the one with size ${small.size}. Add rows, or use smaller sizes`,
    );
  const faults = grown(runs);
  if (faults.length > 0) throw new Error(faults.join("\n"));
}

interface Measured {
  readonly size: number;
  readonly items: number;
  readonly statements: readonly WatchedStatement[];
}

async function measure(
  watch: StatementWatch,
  ask: (size: number) => MaybePromise<GraphResult<unknown> | TestResponse>,
  size: number,
): Promise<Measured> {
  const before = new Map(watch.statements.map((statement) => [keyOf(statement), statement.count]));
  const items = itemsIn(bodyOf(await ask(size), size));
  const statements = watch.statements
    .map((statement) => ({ ...statement, count: statement.count - (before.get(keyOf(statement)) ?? 0) }))
    .filter(({ count }) => count > 0);
  return { size, items, statements };
}

function keyOf({ place, sql }: WatchedStatement): string {
  return JSON.stringify([place, sql]);
}

/** The body of a response that succeeded. */
function bodyOf(response: GraphResult<unknown> | TestResponse, size: number): unknown {
  if ("status" in response) {
    if (response.status < 300) return response.json();
    throw new Error(`expectFlat: the response with size ${size} has the status ${response.status}: ${response.text()}`);
  }
  const { data, errors = [] } = response;
  if (errors.length === 0) return data;
  throw new Error(`expectFlat: the response with size ${size} has errors: ${JSON.stringify(errors)}`);
}

/** The number of items in all lists of a body. */
function itemsIn(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const own = Array.isArray(value) ? value.length : 0;
  return Object.values(value).reduce((sum: number, entry) => sum + itemsIn(entry), own);
}

/** A sentence for each place that needs more statements for a larger page. */
function grown(runs: readonly Measured[]): readonly string[] {
  const places = new Set(runs.flatMap(({ statements }) => statements.map(({ place }) => place)));
  return [...places].flatMap((place) => {
    const counts = runs.map(({ statements }) => countAt(statements, place));
    const highest = Math.max(...counts);
    // A field that only occurs in a larger page, such as that of a value which may be null, adds one statement.
    if (highest <= Math.max(1, counts[0] as number)) return [];
    const most = runs[counts.indexOf(highest)] as Measured;
    // The statement that was repeated most often is the one to fix.
    const [worst] = most.statements
      .filter((statement) => statement.place === place)
      .toSorted((a, b) => b.count - a.count) as [WatchedStatement];
    const growth = runs.map(({ size }, at) => `${counts[at]} for size ${size}`).join(", ");
    return [`${flatFix(worst)}\n  statements: ${growth}\n  ${worst.sql}`];
  });
}

function countAt(statements: readonly WatchedStatement[], place: string | null): number {
  return statements.reduce((sum, statement) => sum + (statement.place === place ? statement.count : 0), 0);
}

const rules = {
  sizes: optional(
    optionRule<readonly number[]>("a list of two or more page sizes in ascending order, such as [2, 20]", isAscending),
    [2, 20],
  ),
};

function isAscending(sizes: unknown): boolean {
  if (!Array.isArray(sizes) || sizes.length < 2) return false;
  return sizes.every((size, at) => Number.isSafeInteger(size) && size > (at === 0 ? 0 : sizes[at - 1]));
}

/** A column that is compared with one value, such as `"books"."author_id" = $1`, as Kysely writes it. */
const COMPARED = /["`](\w+)["`] = (?:\$\d|\?)/;

/** Says which field or route repeats a statement, and how to send it once. */
function flatFix({ place, sql, isConnection }: WatchedStatement): string {
  if (place === null) return "Code outside a request sends one statement per item: read all items with one statement";
  const column = COMPARED.exec(sql)?.[1];
  if (isConnection) {
    const columns = `{ ${column ?? "column"}: "${column === undefined ? "field" : "id"}" }`;
    return `${place} issues one statement per parent: declare \`parent: ${columns}\` on the connection, or use a loader`;
  }
  if (!place.includes(" "))
    return `${place} issues one statement per parent: use a loader, which reads all parents with one statement`;
  const many = column === undefined ? "" : `, for example with \`where ${column} in (...)\``;
  return `${place} issues one statement per item: read all items with one statement${many}`;
}
