import * as fc from "fast-check";
import { SimpleUser } from "../../src/auth/index.ts";
import type { PorticoError } from "../../src/index.ts";
import { type Database, type TableHandler, tableHandler } from "../../src/sql/index.ts";
import { meetsRule, readsTable } from "./expected-guard.ts";
import { expectedWrite } from "./expected-write.ts";
import {
  type GuardCase,
  type GuardData,
  type GuardQuery,
  type GuardRow,
  type GuardTable,
  type GuardWrite,
  guardCase,
  guardTables,
} from "./guard-case.ts";
import { type GuardedEngineName, type GuardPlace, loadRows, openGuardPlace } from "./guard-place.ts";
import { guardQuery, guardWrite, isInCte } from "./guard-queries.ts";

export interface GuardReport {
  /** How many reads and writes were compared with JavaScript, how many were refused, and so on. */
  readonly counts: Readonly<Record<string, number>>;
  /** The reads and writes that were compared. */
  readonly compared: number;
  /** The first difference, as small as it could be made. */
  readonly wrong: string | null;
}

/**
 * Generates tables, rules, queries and writes. A query through the guard over all rows must return what the plain query returns
 * over tables that hold only the rows which JavaScript lets through, and the tables must be those of a model after each write.
 */
export async function checkGuard(
  name: GuardedEngineName,
  { count, seed }: { readonly count: number; readonly seed: number },
): Promise<GuardReport> {
  const place = await openGuardPlace(name);
  const check = new GuardCheck(name === "PostgreSQL" ? "postgres" : "sqlite", place);
  try {
    const property = fc.asyncProperty(guardCase, (one) => check.examine(one));
    const numRuns = Math.ceil(count / PER_RUN);
    const { failed, errorInstance } = await fc.check(property, { numRuns, seed, endOnFailure: count > 2_000 });
    const counts = Object.fromEntries(check.counts);
    const compared = [...check.counts].reduce(
      (sum, [what, n]) => (/^(?:read|list|write)/.test(what) ? sum + n : sum),
      0,
    );
    return { counts, compared, wrong: failed ? String((errorInstance as Error | undefined)?.message) : null };
  } finally {
    await place.close();
  }
}

/** Twelve queries and six writes of two callers. Some of them are not valid SQL. */
const PER_RUN = 30;
const CALLERS = [0, 2] as const;

class GuardCheck {
  readonly counts: Map<string, number> = new Map();
  readonly #engine: "postgres" | "sqlite";
  readonly #place: GuardPlace;
  readonly #all: Database;

  constructor(engine: "postgres" | "sqlite", place: GuardPlace) {
    this.#engine = engine;
    this.#place = place;
    this.#all = place.guarded.asSystem("the generator of rows");
  }

  /** Throws for a difference. */
  async examine(one: GuardCase): Promise<void> {
    const { data } = one;
    this.#place.current.of = one;
    await loadRows(this.#all, data, guardTables);
    for (const caller of CALLERS) {
      const allows = (which: "read" | "write") => (table: GuardTable, row: GuardRow) =>
        table === "c" || meetsRule(one[which][table] as never, row, data, caller);
      const canRead = allows("read");
      const canWrite = (table: GuardTable, row: GuardRow): boolean =>
        canRead(table, row) && allows("write")(table, row);
      const visible = Object.fromEntries(
        guardTables.map((table) => [table, data[table].filter((row) => canRead(table, row))]),
      ) as unknown as GuardData;
      await loadRows(this.#place.allowed, visible, guardTables);
      const handle = this.#place.guarded.as(new SimpleUser(String(caller)));
      for (const query of one.queries) await this.#read(handle, query);
      for (const write of one.writes) {
        const rules = [one.read[write.table], one.write[write.table]] as const;
        // SQLite sees the written rows while it checks them.
        const isOfItself = rules.some((given) => given !== undefined && readsTable(given, write.table));
        if (this.#engine === "sqlite" && isOfItself && !write.kind.startsWith("delete")) this.#count("not compared");
        else await this.#write(handle, write, data, canRead, canWrite);
      }
    }
  }

  async #read(handle: Database, query: GuardQuery): Promise<void> {
    const { allowed } = this.#place;
    const of = (db: Database): any => guardQuery(this.#engine, db, db, query);
    const found = await outcome(() => of(handle).execute());
    const expected = await outcome(() => of(allowed).execute());
    if (found.error !== null && expected.error !== null) return this.#count("invalid in both");
    if (found.error !== null && found.text.includes("hides the table that a rule looks up"))
      return this.#count("refused, because WITH hides the table of a rule");
    const label = `a read: ${JSON.stringify(query)} ${of(handle).compile().sql}`;
    check(label, found.text, expected.text);
    this.#count("read");
    if (query.where.length < 2) await this.#list(handle, { ...query, set: null, limit: null, group: false });
  }

  async #list(handle: Database, query: GuardQuery): Promise<void> {
    const { allowed } = this.#place;
    const expected = await outcome(() => guardQuery(this.#engine, allowed, allowed, query).execute());
    if (expected.error !== null) return this.#count("invalid in both");
    const label = `a list: ${JSON.stringify(query)}`;
    const built = guardQuery(this.#engine, handle, handle, query);
    const list = tableHandler(built, { uniqueKey: ["id"] }) as TableHandler<GuardRow, string>;
    const found = await outcome(() => list.getItems(0, 500));
    if (found.error !== null && found.text.includes("hides the table that a rule looks up"))
      return this.#count("refused, because WITH hides the table of a rule");
    const total = (JSON.parse(expected.text) as unknown[]).length;
    check(label, found.text, expected.text);
    check(`the total of ${label}`, String(await list.getTotalItems()), String(total));
    check(`the total up to 2 of ${label}`, String(await list.countUpTo(2)), String(Math.min(2, total)));
    this.#count("list");
  }

  async #write(
    handle: Database,
    write: GuardWrite,
    data: GuardData,
    canRead: (table: GuardTable, row: GuardRow) => boolean,
    canWrite: (table: GuardTable, row: GuardRow) => boolean,
  ): Promise<void> {
    const expected = expectedWrite(write, data, canRead, canWrite, isInCte(this.#engine, write));
    const result = await guardWrite(this.#engine, handle, write)
      .execute()
      .then(
        () => null,
        (error: Error) => error,
      );
    const rows = (await this.#all.selectFrom(write.table).selectAll().execute()) as unknown as readonly GuardRow[];
    const after = textOf(rows);
    const before = textOf(data[write.table]);
    if (after !== before) await loadRows(this.#all, data, [write.table]);
    if (result !== null && (result as Partial<PorticoError>).code === "STATEMENT_UNGUARDED") {
      if (/hides the table/.test(result.message)) return this.#count("refused, because WITH hides the table of a rule");
      throw new Error(`${result.message}: ${JSON.stringify(write)}`);
    }
    if (result !== null && (result as Partial<PorticoError>).status !== 403) throw result;
    const label = `a write: ${JSON.stringify(write)}`;
    check(`the error of ${label}`, result === null ? "none" : "refused", expected === "refused" ? "refused" : "none");
    check(`the rows after ${label}`, after, expected === "refused" ? before : textOf(expected[write.table]));
    this.#count(expected === "refused" ? "write that is refused" : "write");
  }

  #count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }
}

function check(label: string, found: string, expected: string): void {
  if (found !== expected) throw new Error(`${found} instead of ${expected}: ${label}`);
}

async function outcome(
  run: () => Promise<readonly GuardRow[]>,
): Promise<{ readonly text: string; readonly error: unknown }> {
  try {
    return { text: textOf(await run()), error: null };
  } catch (error) {
    return { text: String(error), error };
  }
}

/** The rows in an order of their own, because most queries have none. Some drivers return counts as text. */
function textOf(rows: readonly Readonly<Record<keyof GuardRow, unknown>>[]): string {
  const texts = rows.map(({ id, org, ref }) =>
    JSON.stringify([id, org, ref].map((value) => (value === null ? null : Number(value)))),
  );
  return `[${texts.toSorted().join(",")}]`;
}
