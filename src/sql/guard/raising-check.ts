import { type OperationNode, RawNode, ValueNode } from "kysely";
import { isInstance } from "../../core/describe-error.ts";
import type { ConditionNode } from "../../pagination/conditions/condition.ts";
import type { GuardedEngine } from "../statements/sql-dialect.ts";

/** The column of a check in RETURNING, which no caller sees. */
export const CHECK = "~guard";
/** The column of the id of an inserted row, which SQLite's driver only reports for statements without rows. */
export const ROW_ID = "~rowid";
const MESSAGE = "portico: refused ";

/** An expression that is null if the condition holds, and otherwise raises an error that `isRaised` recognises. */
export function raisingCheck(engine: GuardedEngine, condition: OperationNode, table: string): OperationNode {
  const message = ValueNode.createImmediate(MESSAGE + table);
  // `concat` is not immutable: otherwise the planner would evaluate the cast of a constant, and raise without a row.
  const [before, between, after] =
    engine === "sqlite"
      ? ["json_extract('{}', case when ", " then '$.a' else ", " end)"]
      : ["cast(case when ", " then null else concat(", ") end as int)"];
  return RawNode.create([before, between, after] as string[], [condition, message]);
}

/** Whether the check of a write has raised this error, or a policy of PostgreSQL. */
export function isRaised(error: unknown): boolean {
  if (!isInstance(error, Error)) return false;
  const { code, routine } = error as { readonly code?: unknown; readonly routine?: unknown };
  return error.message.includes(MESSAGE) || (code === "42501" && routine === "ExecWithCheckOptions");
}

/** The columns of a table that a condition on its rows depends on, also where the condition reads the table again. */
export function columnsOf(node: ConditionNode, table: string): ReadonlySet<string> {
  return new Set(found(node, table, true));
}

/** Whether a condition on the rows of a table reads the table again. */
export function readsItself(node: ConditionNode, table: string): boolean {
  if (node.kind === "related") return isSame(node.from, table) || readsItself(node.where, table);
  if (!("of" in node)) return false;
  return Array.isArray(node.of)
    ? node.of.some((part) => readsItself(part, table))
    : readsItself(node.of as ConditionNode, table);
}

/** Whether two names are those of one table, as far as names can tell. */
export function isSame(one: string, other: string): boolean {
  return bare(one) === bare(other);
}

function bare(name: string): string {
  return (name.split(".").at(-1) ?? name).toLowerCase();
}

function found(node: ConditionNode, table: string, isOwn: boolean): readonly string[] {
  switch (node.kind) {
    case "always":
    case "never":
      return [];
    case "all":
    case "any":
      return node.of.flatMap((part) => found(part, table, isOwn));
    case "not":
      return found(node.of, table, isOwn);
    case "related": {
      const isOwnAgain = isSame(node.from, table);
      return [
        ...node.on.flatMap(({ column, key }) => [...(isOwn ? [column] : []), ...(isOwnAgain ? [key] : [])]),
        ...found(node.where, table, isOwnAgain),
      ];
    }
    case "columns":
      return isOwn ? [node.column, node.other] : [];
    case "null":
    case "equal":
    case "in":
    case "compare":
    case "prefix":
      return isOwn ? [node.column] : [];
  }
}
