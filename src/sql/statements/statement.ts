import {
  type CompiledQuery,
  createQueryId,
  type KyselyPlugin,
  MysqlQueryCompiler,
  type OperationNode,
  PostgresQueryCompiler,
  RawNode,
  type RootOperationNode,
  SelectionNode,
  SelectQueryNode,
  SqliteQueryCompiler,
  ValueNode,
} from "kysely";
import type { AnyQuery } from "./any-query.ts";
import { isTrusted, trust } from "./is-trusted.ts";
import { noteUse } from "./prepared-name.ts";
import { senderOf } from "./sender-of.ts";
import type { SqlDialect } from "./sql-dialect.ts";

/** A placeholder for the value of a key column, filled in when the statement runs. */
export class KeySlot {
  readonly column: number;
  constructor(column: number) {
    this.column = column;
  }
}

/** Stands for the columns of the author's query in the columns of a result. */
export const SELECTED = "*";

/** A statement that is compiled once and run with different parameters. */
export class Statement {
  /** The columns of its result, in order. */
  readonly columns: readonly string[];
  readonly #fragments: readonly string[];
  readonly #parameters: readonly unknown[];
  readonly #text: string;

  constructor(dialect: SqlDialect, node: OperationNode, columns: readonly string[]) {
    this.columns = columns;
    const compiled = splitter(dialect).compileQuery(node as RootOperationNode, createQueryId());
    this.#fragments = compiled.sql.slice(SELECT.length).split(PARAMETER);
    this.#parameters = compiled.parameters;
    this.#text = textOf(dialect, compiled);
  }

  /** The text after `select`, split at its parameters. */
  get fragments(): readonly string[] {
    return this.#fragments;
  }

  /** The text for the driver, with its placeholders. */
  get text(): string {
    return this.#text;
  }

  /**
   * @param given the parameters of the author's query, which the statement contains once or several times
   * @param isSelected whether the client chose its columns
   */
  run(
    query: AnyQuery,
    given: readonly unknown[],
    key: readonly unknown[],
    isSelected = false,
  ): Promise<Record<string, unknown>[]> {
    noteUse(this.#text, isSelected);
    return runRaw(query, this.#fragments, this.values(given, key), this.columns);
  }

  values(given: readonly unknown[], key: readonly unknown[]): readonly unknown[] {
    let count = 0;
    return this.#parameters.map((parameter) =>
      parameter instanceof KeySlot ? key[parameter.column] : given[count++ % given.length],
    );
  }
}

/** The parameters of a piece of SQL. */
export function parametersOf(dialect: SqlDialect, node: OperationNode): readonly unknown[] {
  return splitter(dialect).compileQuery(node as RootOperationNode, createQueryId()).parameters;
}

const SELECT = "select ";
// Marks a parameter with text that no statement contains.
const PARAMETER = "\u0000";

function splitter(dialect: SqlDialect): {
  compileQuery(node: RootOperationNode, id: ReturnType<typeof createQueryId>): CompiledQuery;
} {
  switch (dialect) {
    case "postgres":
      return new PostgresSplitter();
    case "mysql":
      return new MysqlSplitter();
    case "sqlite":
      return new SqliteSplitter();
  }
}
class PostgresSplitter extends PostgresQueryCompiler {
  protected override getCurrentParameterPlaceholder(): string {
    return PARAMETER;
  }
}
class MysqlSplitter extends MysqlQueryCompiler {
  protected override getCurrentParameterPlaceholder(): string {
    return PARAMETER;
  }
}
class SqliteSplitter extends SqliteQueryCompiler {
  protected override getCurrentParameterPlaceholder(): string {
    return PARAMETER;
  }
}

/** Returns the text for the driver, with its placeholders. */
function textOf(dialect: SqlDialect, { sql }: CompiledQuery): string {
  let count = 0;
  return sql.replaceAll(PARAMETER, () => (dialect === "postgres" ? `$${++count}` : "?"));
}

/**
 * Runs compiled SQL on the query's executor: its transaction or its pool. Kysely has no other way to get the executor
 * of a query. A plugin that replaces the statement uses public API.
 *
 * @param fragments the text after `select`, split at its parameters
 * @param columns the columns of the result, in order
 * @param isOfCatalogue whether it reads the catalogue, which no guard restricts
 */
export function runRaw(
  query: AnyQuery,
  fragments: readonly string[],
  values: readonly unknown[],
  columns: readonly string[],
  isOfCatalogue = false,
): Promise<Record<string, unknown>[]> {
  const text = RawNode.create(
    fragments,
    values.map((value) => ValueNode.create(value)),
  );
  const select = SelectQueryNode.cloneWithSelections(SelectQueryNode.create(), [SelectionNode.create(text as never)]);
  const node: ResultNode = { ...select, resultColumns: columns };
  const sender = senderOf(query);
  const replacement = new Replacement(node, isOfCatalogue || sender !== undefined);
  return (sender ?? query).withPlugin(replacement).execute() as Promise<Record<string, unknown>[]>;
}

/** A statement as raw SQL, for an executor whose driver returns the values of a row without their names. */
interface ResultNode extends SelectQueryNode {
  readonly resultColumns: readonly string[];
}

/** Returns the columns of the result of a statement. A query of the builder returns those of the author's query. */
export function resultColumns(node: OperationNode): readonly string[] {
  return (node as Partial<ResultNode>).resultColumns ?? [SELECTED];
}

class Replacement implements KyselyPlugin {
  readonly #node: SelectQueryNode;
  readonly #isTrusted: boolean;
  constructor(node: SelectQueryNode, isTrusted: boolean) {
    this.#node = node;
    this.#isTrusted = isTrusted;
  }
  /** The statement was built from the query, so it is guarded if the query is. */
  transformQuery({ node }: Parameters<KyselyPlugin["transformQuery"]>[0]): RootOperationNode {
    return this.#isTrusted || isTrusted(node) ? trust(this.#node) : this.#node;
  }
  async transformResult({
    result,
  }: Parameters<KyselyPlugin["transformResult"]>[0]): ReturnType<KyselyPlugin["transformResult"]> {
    return result;
  }
}
