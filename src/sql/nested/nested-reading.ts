import type { ConditionValue } from "../../pagination/conditions/condition.ts";
import type { ParentKey, ParentSeek } from "../../pagination/handlers/data-handler.ts";
import { exactJson } from "../queries/exact-json.ts";
import { driverValue, type KeyColumn } from "../queries/key-column.ts";
import { keyValues, misfitOf } from "../queries/keyed-items.ts";
import { patternOf, type QueryShape } from "../queries/query-shape.ts";
import type { Selection } from "../queries/selection.ts";
import type { AnyQuery } from "../statements/any-query.ts";
import type { SqlDialect } from "../statements/sql-dialect.ts";
import type { Statement } from "../statements/statement.ts";
import { type MergedBy, mergedLists } from "./merged-lateral.ts";
import {
  LIST,
  type ListPage,
  lateralStatement,
  lateralValues,
  type NestedList,
  runUnion,
  termStatements,
  unionStatement,
} from "./nested-list.ts";

type Row = Record<string, unknown>;

/** A query whose rows are split into lists by their parents. */
export interface NestedSource {
  readonly query: AnyQuery;
  readonly shape: QueryShape;
  readonly parameters: readonly unknown[];
  readonly uniqueKey: readonly string[];
  /** The part of the columns that pages are read with; `null` for all of them. */
  readonly selection: Selection | null;
}

/** A list to read. */
interface Place {
  readonly values: readonly unknown[];
  readonly isNull: readonly boolean[] | null;
}

/** SQLite's limit for the terms of a union. */
export const MAX_TERMS = 500;
/** The parameters of a statement. PostgreSQL's protocol counts them with 16 bits, as prepared statements of MySQL do. */
export const MAX_PARAMETERS: Readonly<Record<SqlDialect, number>> = {
  postgres: 65_535,
  mysql: 65_535,
  sqlite: 32_766,
};
/** The lists of a statement with LATERAL, which has a fixed number of parameters. */
const MAX_LISTS = 10_000;

/** Reads a page or a count of the lists of many parents, in as few statements as the engine allows. */
export class NestedReading {
  readonly #source: NestedSource;
  readonly #list: NestedList;
  readonly #names: readonly string[];
  readonly #statementName: string;
  /** With LATERAL, values are cast to the types of their columns, which are unknown if a column is computed. */
  readonly #isLateral: boolean;
  readonly #by: MergedBy | null;

  /** @param by the values by which the pages of lists are merged, in PostgreSQL, if the types of all columns are known */
  constructor(
    source: NestedSource,
    list: NestedList,
    names: readonly string[],
    statementName: string,
    by: MergedBy | null,
  ) {
    this.#source = source;
    this.#by = by;
    this.#list = list;
    this.#names = names;
    this.#statementName = statementName;
    this.#isLateral =
      list.dialect === "postgres" && [...list.parents, ...list.read.columns].every(({ type }) => type !== "");
  }

  /** Returns the rows of each list. Equal lists are read once. */
  async lists(seeks: readonly ParentSeek[]): Promise<readonly (readonly Row[] | Error)[]> {
    const texts = seeks.map(({ parent, key }) => exactJson([parent, key]));
    const places = new Map<string, Place | Error>();
    seeks.forEach((seek, index) => {
      const text = texts[index] as string;
      if (!places.has(text)) places.set(text, this.#placeOf(seek));
    });
    const found = new Map<string, readonly Row[] | Error>();
    const readable: [string, Place][] = [];
    for (const [text, place] of places)
      if (place instanceof Error) found.set(text, place);
      else readable.push([text, place]);
    const size = this.#chunkSize(readable.map(([, place]) => place));
    for (let start = 0; start < readable.length; start += size) {
      const chunk = readable.slice(start, start + size);
      const lists = await this.#readChunk(chunk.map(([, place]) => place));
      chunk.forEach(([text], index) => found.set(text, lists[index] as readonly Row[] | Error));
    }
    return texts.map((text) => found.get(text) as readonly Row[] | Error);
  }

  #placeOf({ parent, key }: ParentSeek): Place | Error {
    const { dialect, parents, read } = this.#list;
    try {
      const values = parents.map((column, index) => parentValue(dialect, column, parent, this.#names[index] as string));
      return key === null
        ? { values, isNull: null }
        : {
            values: [...values, ...keyValues(dialect, read.columns, key)],
            isNull: read.columns.map((_column, index) => key[index] === null),
          };
    } catch (error) {
      return error as Error;
    }
  }

  /** How many lists fit into one statement. */
  #chunkSize(places: readonly Place[]): number {
    if (this.#isLateral) return MAX_LISTS;
    const most = MAX_PARAMETERS[this.#list.dialect];
    const patterns = new Map(places.map((place) => [patternOf(place.isNull), place]));
    const sizes = [...patterns.values()].map((place) => {
      const terms = this.#terms(place);
      const parameters = terms.reduce((sum, { fragments }) => sum + fragments.length - 1, 0);
      return Math.floor(Math.min(MAX_TERMS / terms.length, most / parameters));
    });
    return Math.max(1, Math.min(...sizes));
  }

  async #readChunk(places: readonly Place[]): Promise<readonly (readonly Row[] | Error)[]> {
    return this.#read(places, async () => {
      // If the query itself has the rejected value, such as a filter, this throws, and no list is read on its own.
      await this.#source.query.limit(0).execute();
    });
  }

  /**
   * A value that the database rejects fails its own list only, so the others are read without it.
   *
   * @param checkQuery is called once before the lists are split
   */
  async #read(
    places: readonly Place[],
    checkQuery: () => Promise<void> = async () => {},
  ): Promise<readonly (readonly Row[] | Error)[]> {
    try {
      return await (this.#isLateral ? this.#readLateral(places) : this.#readUnion(places));
    } catch (error) {
      const misfit = misfitOf(error);
      if (misfit === null) throw error;
      if (places.length === 1) return [places[0]?.isNull === null ? (error as Error) : misfit];
      await checkQuery();
      const half = Math.ceil(places.length / 2);
      return [...(await this.#read(places.slice(0, half))), ...(await this.#read(places.slice(half)))];
    }
  }

  async #readLateral(places: readonly Place[]): Promise<readonly (readonly Row[])[]> {
    const { query, shape, parameters } = this.#source;
    const parts = [...Map.groupBy(places, ({ isNull }) => patternOf(isNull))].toSorted(([a], [b]) => (a < b ? -1 : 1));
    const by = this.#by;
    const name = `${this.#statementName} ${parts.map(([pattern]) => pattern).join()}${by === null ? "" : ` ${JSON.stringify(by.texts)}`}`;
    const patterns = parts.map(([, [first]]) => first?.isNull ?? null);
    const statement = shape.compiled(name, () =>
      by === null ? lateralStatement(this.#list, patterns) : mergedLists(this.#list as ListPage, by, patterns),
    );
    const values = [...(by?.given ?? []), ...lateralValues(parts.map(([, part]) => part.map((place) => place.values)))];
    const isSelected = this.#source.selection !== null;
    const lists = listsOf(await statement.run(query, parameters, values, isSelected), places.length);
    const sent = parts.flatMap(([, part]) => part);
    const byPlace = new Map(sent.map((place, index) => [place, lists[index] as readonly Row[]]));
    return places.map((place) => byPlace.get(place) as readonly Row[]);
  }

  async #readUnion(places: readonly Place[]): Promise<readonly (readonly Row[])[]> {
    const { shape, parameters } = this.#source;
    const { read } = this.#list;
    const around = shape.compiled(`${this.#statementName} union`, () => unionStatement(this.#list));
    const terms = places.flatMap((place, index) =>
      this.#terms(place).map((statement) => ({
        statement,
        values: statement.values(parameters, [index, ...place.values]),
      })),
    );
    const lists = listsOf(await runUnion(this.#list, around, terms), places.length);
    // Each range has its own limit.
    return "cap" in read ? lists : lists.map((rows) => rows.slice(0, read.limit));
  }

  #terms({ isNull }: Place): readonly Statement[] {
    const name = `${this.#statementName} ${patternOf(isNull)}`;
    return this.#source.shape.compiled(name, () => termStatements(this.#list, isNull));
  }
}

function listsOf(rows: readonly Row[], count: number): readonly (readonly Row[])[] {
  const lists = Array.from({ length: count }, (): Row[] => []);
  for (const row of rows) lists[Number(row[LIST])]?.push(row);
  return lists;
}

/** Returns the value of a parent as the driver needs it. Throws `TypeError` if it does not fit the column. */
export function parentValue(dialect: SqlDialect, column: KeyColumn, parent: ParentKey, name: string): unknown {
  const value = driverValue(
    dialect,
    column,
    dialect === "sqlite" ? sqliteNumber(parent[name]) : (parent[name] ?? null),
  );
  if (value !== undefined) return value;
  throw new TypeError(`the value of a parent does not fit the column ${name} of its children`);
}

/** SQLite's integers are bigints in keys. */
function sqliteNumber(value: ConditionValue | undefined): ConditionValue {
  return typeof value === "boolean" || Number.isSafeInteger(value) ? BigInt(value as number) : (value ?? null);
}
