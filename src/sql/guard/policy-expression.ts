import { createHash } from "node:crypto";
import { ConfigurationError } from "../../core/configuration-error.ts";
import type { ConditionNode, PresentValue } from "../../pagination/conditions/condition.ts";

/** The tables of the schema that policies name. */
export interface PolicyCatalogue {
  /** Returns the quoted name of a table, with its schema. Throws for an unknown one. */
  nameOf(table: string): string;
  /** Returns the quoted schema of a table. */
  schemaOf(table: string): string;
  /** Returns the type of a column. Throws for an unknown one. */
  typeOf(table: string, column: string): string;
}

/** A condition as the text of a policy. Two conditions of one shape have the same text, and other values. */
export interface PolicyExpression {
  readonly text: string;
  readonly values: readonly unknown[];
  /** The statements that create the functions in the text, by their signatures. */
  readonly functions: ReadonlyMap<string, string>;
}

/** The setting that holds the values of the caller for the current transaction. */
export const SETTING = "portico.guard";
/** The setting of statements without rules. */
export const SYSTEM = '"system"';

/**
 * Returns a condition on the rows of a table as SQL that is true or false for every row. It reads the values from the setting, and
 * related tables through a function that no policy concerns, because a policy that reads its own table would never end.
 */
export function policyExpression(
  node: ConditionNode,
  { table, verb, catalogue }: { readonly table: string; readonly verb: string; readonly catalogue: PolicyCatalogue },
): PolicyExpression {
  const values: unknown[] = [];
  const functions = new Map<string, string>();
  const setting = settingOf(table, verb);
  const place: Place = {
    catalogue,
    table,
    row: "",
    given: `(select ${setting})`,
    values,
    functions,
    isInverted: false,
  };
  return { text: expression(node, place), values, functions };
}

/** Returns the number of the caller's shape and the caller's values, as JSON. */
export function settingOf(table: string, verb: string): string {
  return `nullif(current_setting('${SETTING}', true), '')::jsonb -> ${literal(table)} -> '${verb}'`;
}

export function literal(text: string): string {
  // Without a backslash, no setting of the server changes how it is read.
  if (text.includes("\\")) return `E'${text.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
  return `'${text.replaceAll("'", "''")}'`;
}

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

interface Place {
  readonly catalogue: PolicyCatalogue;
  readonly table: string;
  /** The alias of the row, with a dot; empty for the row that a policy decides about. */
  readonly row: string;
  /** The JSON array with the values. */
  readonly given: string;
  readonly values: unknown[];
  readonly functions: Map<string, string>;
  /** Whether it is inside `not`. */
  readonly isInverted: boolean;
}

type Related = Extract<ConditionNode, { readonly kind: "related" }>;

function expression(node: ConditionNode, place: Place): string {
  const { row } = place;
  const of = (column: string): string => row + quoted(column);
  switch (node.kind) {
    case "always":
    case "never":
      return String(node.kind === "always");
    case "not":
      return `(not ${expression(node.of, { ...place, isInverted: true })})`;
    case "all":
    case "any":
      return `(${node.of.map((part) => expression(part, place)).join(node.kind === "all" ? " and " : " or ")})`;
    case "null":
      return `(${of(node.column)} is null)`;
    case "equal":
    case "in":
      return oneOf(node.column, node.kind === "equal" ? [node.value] : node.values, place);
    case "compare":
      return certain(
        `${of(node.column)} ${node.operator} ${next(String(comparable(node.column, node.value, place)), place)}::numeric`,
        place,
      );
    case "columns": {
      const [one, other] = [of(node.column), of(node.other)];
      if (node.operator === "=") return `(to_jsonb(${one}) is not distinct from to_jsonb(${other}))`;
      return certain(`${one} ${node.operator} ${other}`, place);
    }
    case "prefix":
      return certain(`starts_with(${exactText(of(node.column))}, ${next(node.value, place)})`, place);
    case "related":
      return row === "" ? throughFunction(node, place) : inRelated(node, place);
  }
}

function oneOf(column: string, values: readonly PresentValue[], place: Place): string {
  const given = place.row + quoted(column);
  const at = add(
    values.map((value) => String(comparable(column, value, place))),
    place,
  );
  const list = (type: string): string =>
    `array(select one::${type} from jsonb_array_elements_text(${place.given} -> ${at}) one)`;
  const matches = `${given} = any(${list(place.catalogue.typeOf(place.table, column))})`;
  // The column's type may compare different texts as equal.
  const exact = typeof values[0] === "string" ? ` and ${exactText(given)} = any(${list("text")})` : "";
  return certain(`${matches}${exact}`, place);
}

/**
 * Returns a comparison, which is null for a null. Only inside `not` this makes a difference, and elsewhere an index can serve the
 * comparison as it is.
 */
function certain(comparison: string, { isInverted }: Place): string {
  return isInverted ? `coalesce(${comparison}, false)` : `(${comparison})`;
}

function exactText(column: string): string {
  return `${column}::text collate "C"`;
}

function add(value: unknown, { values }: Place): number {
  // The first element is the number of the shape.
  return values.push(value);
}

function next(value: string, place: Place): string {
  return `(${place.given} ->> ${add(value, place)})`;
}

function comparable(column: string, value: PresentValue, { table }: Place): Exclude<PresentValue, Date> {
  if (value instanceof Date)
    throw new ConfigurationError(
      "openDatabase.policies",
      `cannot contain the rule of ${table}, which compares ${column} with a time: policies compare text, numbers and booleans`,
    );
  return value;
}

/** The rows of the table that is looked up, in the rights of the function's owner, and with the setting of no caller. */
function throughFunction(node: Related, place: Place): string {
  const { table, given, functions, catalogue } = place;
  const body = relatedRows(node, { ...place, given: "caller" }, (keys) => keys.map(exactText));
  const name = `${catalogue.schemaOf(table)}.portico_${digest(body)}`;
  const columns = node.on.map((_key, at) => `key_${at} text`).join(", ");
  const result = node.on.length === 0 ? "setof integer" : `table (${columns})`;
  functions.set(
    `${name}(jsonb)`,
    `create or replace function ${name}(caller jsonb) returns ${result} language sql stable security definer ` +
      `set search_path = pg_catalog, pg_temp set ${SETTING} = ${literal(SYSTEM)} as ${literal(body)}`,
  );
  const rows = `select * from ${name}(${given})`;
  if (node.on.length === 0) return `exists (${rows})`;
  return certain(`(${node.on.map(({ column }) => exactText(quoted(column))).join(", ")}) in (${rows})`, place);
}

function inRelated(node: Related, place: Place): string {
  if (node.on.length === 0) return `exists (${relatedRows(node, place, () => ["1"])})`;
  const columns = inBothTypes(node.on.map(({ column }) => place.row + quoted(column)));
  return certain(`(${columns.join(", ")}) in (${relatedRows(node, place, inBothTypes)})`, place);
}

/** The columns in their own types, which an index can serve, and as exact text. */
function inBothTypes(columns: readonly string[]): readonly string[] {
  return columns.flatMap((one) => [one, exactText(one)]);
}

function relatedRows(node: Related, place: Place, selected: (keys: readonly string[]) => readonly string[]): string {
  const row = place.row === "" ? "r." : `r${place.row}`;
  const keys = node.on.map(({ key }) => row + quoted(key));
  const inside = expression(node.where, { ...place, row, table: node.from, isInverted: false });
  const conditions = [...keys.map((key) => `${key} is not null`), inside];
  const columns = keys.length === 0 ? ["1"] : selected(keys);
  return `select ${columns.join(", ")} from ${place.catalogue.nameOf(node.from)} ${row.slice(0, -1)} where ${conditions.join(" and ")}`;
}

export function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 12);
}
