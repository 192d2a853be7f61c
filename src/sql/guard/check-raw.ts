import { RawNode, SelectQueryNode } from "kysely";
import type { GuardedEngine } from "../statements/sql-dialect.ts";
import { unguarded } from "./unguarded.ts";

/** Throws for a fragment that could name a table, or that leaves the parentheses which the guard puts around it. */
export function checkRaw(node: RawNode, engine: GuardedEngine): void {
  if (isHelper(node)) return;
  const text = flattened(node);
  const refuse = (reason: string): never => {
    throw unguarded(`raw SQL ${reason}: ${text.slice(0, 60)}`);
  };
  // Text and quoted names cannot read a table. A backslash could end them where this pattern does not.
  if (text.includes("\\")) refuse("with a backslash");
  const bare = text.replaceAll(/'(?:[^']|'')*'|"(?:[^"]|"")*"/g, " ? ");
  // Other characters quote as well: a dollar in PostgreSQL, brackets and backticks in SQLite.
  const other = OTHERS[engine].exec(bare);
  if (other !== null) refuse(`with ${other[0]} outside of quotes`);
  if (/--|\/\*|;/.test(bare)) refuse("with a comment or a semicolon");
  if (hasForbiddenWord(bare)) refuse("that may read or write a table");
  let depth = 0;
  for (const [token] of bare.replaceAll(/\bdistinct\s+from\b/gi, "").matchAll(/[()]|\b(?:from|join|using|into)\b/gi)) {
    if (token === "(") depth++;
    else if (token !== ")" && (depth === 0 || /join|into/i.test(token))) refuse(`with ${token}`);
    else if (token === ")" && --depth < 0) refuse("that closes a parenthesis it did not open");
  }
  if (depth > 0) refuse("with an open parenthesis");
}

/** Throws for a function that executes SQL, and for a name that is more than a name. */
export function checkFunction(name: string): void {
  if (!/^[\w.]+$/.test(name) || hasForbiddenWord(name)) throw unguarded(`the function ${name.slice(0, 60)}`);
}

/** Whether a word begins a statement or a part of one, or a function that executes the SQL in a text or reads a table by its name. */
function hasForbiddenWord(text: string): boolean {
  return (text.match(/\w+/g) ?? []).some((word) => WORDS.test(word) || NAMES.test(word));
}

/** The characters that neither begin nor end a quote. */
const OTHERS: Readonly<Record<GuardedEngine, RegExp>> = {
  postgres: /[^\w\s.,()+\-*/%<>=!|&^~#:;?@[\]]/u,
  sqlite: /[^\w\s.,()+\-*/%<>=!|&^~#:;?@]/u,
};

const WORDS =
  /^(?:select|table|insert|update|delete|merge|truncate|union|except|intersect|copy|call|do|execute|lock|returning|ts_stat|ts_rewrite|connectby|load_extension)$/i;
const NAMES = /_to_xml|^(?:dblink|crosstab|pragma|pg_read|pg_ls|lo_|fts)/i;

/** The text of a fragment with those inside it, because `${sql.raw("sel")}${sql.raw("ect")}` is a word. */
function flattened({ sqlFragments, parameters }: RawNode): string {
  return sqlFragments.reduce((text, fragment, index) => {
    const parameter = parameters[index - 1];
    return text + (parameter !== undefined && RawNode.is(parameter) ? flattened(parameter) : " ? ") + fragment;
  });
}

/** Kysely's `jsonArrayFrom` and `jsonObjectFrom`, whose subquery is guarded as any other. */
function isHelper({ sqlFragments, parameters }: RawNode): boolean {
  const subquery = parameters.at(-1);
  return HELPERS.has(sqlFragments.join("?")) && subquery !== undefined && SelectQueryNode.is(subquery);
}

const HELPERS: ReadonlySet<string> = new Set([
  "(select coalesce(json_agg(agg), '[]') from ? as agg)",
  "(select to_json(obj) from ? as obj)",
  "(select coalesce(json_group_array(json_object(?)), '[]') from ? as agg)",
  "(select json_object(?) from ? as obj)",
]);
