import { entityKind, is, Placeholder, type SQL, type SQLWrapper, sql, type Table } from "drizzle-orm";
import { ConfigurationError } from "../core/configuration-error.ts";
import type { SqlDialect } from "../sql/statements/sql-dialect.ts";

/** The parts of a Drizzle select query, which its type declares as `_.config`. */
export interface SelectConfig {
  readonly withList?: readonly SQLWrapper[];
  readonly fields: Readonly<Record<string, unknown>>;
  readonly table: SQLWrapper;
  readonly joins?: readonly JoinConfig[];
  readonly where?: SQL;
  readonly groupBy?: readonly SQLWrapper[];
  readonly having?: SQL;
  readonly orderBy?: readonly SQLWrapper[];
  readonly distinct?: boolean | { readonly on: readonly SQLWrapper[] };
  readonly limit?: unknown;
  readonly offset?: unknown;
  readonly lockingClause?: unknown;
  readonly setOperators?: readonly unknown[];
  readonly useIndex?: readonly string[];
  readonly forceIndex?: readonly string[];
  readonly ignoreIndex?: readonly string[];
}

export interface JoinConfig {
  readonly on: SQL | undefined;
  readonly table: SQLWrapper;
  readonly joinType: "inner" | "left" | "right" | "full" | "cross";
  readonly lateral?: boolean;
  readonly useIndex?: readonly string[];
  readonly forceIndex?: readonly string[];
  readonly ignoreIndex?: readonly string[];
}

/** SQL text, split at its parameters. */
export interface TextFragments {
  readonly texts: readonly string[];
  readonly values: readonly unknown[];
}

/** The members of a select query that this file uses. All of them exist in the declarations of Drizzle. */
interface RawQuery {
  readonly _: { readonly config: SelectConfig };
  /** Protected. */
  readonly dialect: { sqlToQuery(statement: SQL): { readonly sql: string; readonly params: readonly unknown[] } };
  getSQL(): SQL;
  prepare(name?: string): { execute(): Promise<unknown>; all?(): unknown };
}

const DIALECTS: Readonly<Record<string, SqlDialect>> = {
  PgSelect: "postgres",
  MySqlSelect: "mysql",
  SQLiteSelect: "sqlite",
};

// Marks a parameter, or the end of a name, with text that no statement contains.
const MARK = "\u0000";

/**
 * A Drizzle select query whose statement can be replaced. Everything that Drizzle does not document is in this file. A
 * query reads its statement, its selection and its dialect from itself. An object that inherits from the query and
 * overrides them runs another statement on the same connection or transaction, with the same mapping of rows.
 */
export class OpenQuery {
  readonly dialect: SqlDialect;
  readonly config: SelectConfig;
  readonly #query: RawQuery;
  readonly #marking: RawQuery["dialect"];
  readonly #naming: RawQuery["dialect"];

  constructor(query: unknown) {
    const given = query as RawQuery | null | undefined;
    const kind = (given?.constructor as { readonly [entityKind]?: string } | undefined)?.[entityKind];
    const dialect = DIALECTS[kind ?? ""];
    if (given?._?.config === undefined || dialect === undefined || typeof given.prepare !== "function")
      throw new ConfigurationError(
        "drizzleHandler",
        "requires a select query of a Drizzle database for PostgreSQL, MySQL or SQLite, such as db.select().from(books)",
      );
    // Throws if a selected column belongs to a table that is not joined, and prepares scalar subqueries.
    given.getSQL();
    this.dialect = dialect;
    this.config = given._.config;
    this.#query = given;
    this.#marking = derived(given.dialect, { escapeParam: () => MARK });
    this.#naming = derived(given.dialect, { escapeName: (name: string) => name + MARK });
  }

  /** Returns a piece of the query as SQL text. Throws `ConfigurationError` if it has placeholders. */
  fragments(piece: SQLWrapper): TextFragments {
    const { sql: text, params } = this.#marking.sqlToQuery(sql`${piece}`);
    if (params.some((value) => isPlaceholder(value)))
      throw new ConfigurationError(
        "drizzleHandler",
        "requires a query without placeholders: pass the values themselves",
      );
    return { texts: text.split(MARK), values: params };
  }

  /** Returns the names in a column or a table: the schema, if there is one, the table and the column. */
  names(piece: SQLWrapper): readonly string[] {
    const { sql: text } = this.#naming.sqlToQuery(sql`${piece}`);
    return text
      .split(MARK)
      .slice(0, -1)
      .map((name, index) => (index === 0 ? name : name.slice(".".length)));
  }

  /** Runs a statement on the connection or transaction of the query, and returns its rows as Drizzle maps these fields. */
  async run(
    { sql: text, parameters }: { readonly sql: string; readonly parameters: readonly unknown[] },
    fields: Readonly<Record<string, unknown>>,
  ): Promise<readonly Record<string, unknown>[]> {
    const query = derived(this.#query, {
      config: { ...this.config, fields },
      dialect: derived(this.#query.dialect, { sqlToQuery: () => ({ sql: text, params: [...parameters] }) }),
      getSQL: () => NOTHING,
    });
    const prepared = query.prepare();
    return (await (this.dialect === "sqlite" ? prepared.all?.() : prepared.execute())) as Record<string, unknown>[];
  }
}

const NOTHING = sql.empty();

/** Returns the schema and the name of a table in the database, whatever its alias. */
export function originalName(table: Table): { readonly schema: string | undefined; readonly table: string } {
  const { [SCHEMA]: schema, [ORIGINAL_NAME]: name } = table as unknown as Record<symbol, string | undefined>;
  return { schema, table: name as string };
}

/** Whether a field is a computed field of a subquery, which is referred to by its alias. */
export function isSubqueryField(field: SQL.Aliased): boolean {
  return (field as { readonly isSelectionField?: boolean }).isSelectionField === true;
}

const SCHEMA = Symbol.for("drizzle:Schema");
const ORIGINAL_NAME = Symbol.for("drizzle:OriginalName");

function isPlaceholder(value: unknown): boolean {
  return is(value, Placeholder) || is((value as { readonly value?: unknown } | null)?.value, Placeholder);
}

function derived<T extends object>(original: T, members: object): T {
  return Object.create(original, Object.getOwnPropertyDescriptors(members)) as T;
}
