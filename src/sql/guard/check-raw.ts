import { type OperationNode, RawNode, SelectQueryNode } from "kysely";
import type { GuardedEngine } from "../statements/sql-dialect.ts";
import { EXPRESSION, type KnownFunctions, QUOTED, VALUE } from "./known-functions.ts";
import { unguarded } from "./unguarded.ts";

/**
 * Throws for a fragment that could name a table or call a function that reads one, or that reaches out of the place where it
 * stands.
 *
 * @param place its place, if it stands beside other expressions without parentheses
 */
export function checkRaw(
  node: RawNode,
  place: Place | undefined,
  engine: GuardedEngine,
  functions: KnownFunctions,
): void {
  if (isHelper(node)) return;
  const { bare, outside, refuse } = read(node, engine);
  if (place !== undefined && !FITTING[place].test(place === "alias" ? outside : bare)) refuse(`as the ${place}`);
  if (place === "alias") return;
  // It may be the name of any function.
  if (QUOTED_CALL.test(bare)) refuse("that calls a function by a quoted name");
  if (MEMBER.test(bare)) refuse("with a name behind a value and a dot, which PostgreSQL takes for a function too");
  functions.checkCalls(BEFORE_OTHERS.has(place) ? `${bare} ${EXPRESSION}` : bare);
}

const QUOTED_CALL = /[\uFFFA-\uFFFC]\s*[\uFFFA-\uFFFC(]/;
/** A name after anything but another name. */
const MEMBER = /[)\]\uFFFA\uFFFB]\s*\./;

/** A place of a fragment beside other expressions, which must be a name, an operator, or words. */
export type Place = "alias" | "operator" | "direction" | "modifier" | "ending";

/** The places before an expression, which may begin with a parenthesis. */
const BEFORE_OTHERS: ReadonlySet<Place | undefined> = new Set(["operator", "modifier"] as const);

/** Fragments that stand beside others without parentheses, and what they must look like to begin nothing else. */
const FITTING: Readonly<Record<Place, RegExp>> = {
  alias: /^\s*(?:\w+|[\uFFFA-\uFFFC])\s*$/,
  operator: /^[^\uFFFA-\uFFFC,]*$/,
  direction: /^[^(,]*$/,
  modifier: /^[\w\s]*$/,
  ending: /^\s*(?:for|limit|offset|fetch|window|order\s+by)\s/i,
};

/**
 * Returns a fragment whose parameters stand apart from the text beside them, as the checks read it: `${sql.lit(-1)}` after a
 * minus would begin a comment, and the name of a function would end a word.
 *
 * @param isInner whether it is part of another fragment
 */
export function spaced(node: RawNode, isInner: boolean): RawNode {
  const { parameters, sqlFragments } = node;
  const isApart = (at: number): boolean => {
    const parameter = parameters[at];
    return parameter !== undefined && !RawNode.is(parameter);
  };
  const fragments = sqlFragments.map((text, at) => {
    const before = isApart(at - 1) && (text === "" ? isInner || at < parameters.length : !/^[\s),:]/.test(text));
    const after = isApart(at) && (text === "" ? isInner : !/[\s(,[]$/.test(text));
    return `${before ? " " : ""}${text}${after ? " " : ""}`;
  });
  return RawNode.create(fragments, parameters);
}

interface Reading {
  /** The text with a mark in the place of each parameter, text and quoted name. */
  readonly bare: string;
  /** The text outside of parentheses. */
  readonly outside: string;
  readonly refuse: (reason: string) => never;
}

function read(node: RawNode, engine: GuardedEngine): Reading {
  const text = flattened(node);
  const refuse = (reason: string): never => {
    throw unguarded(`raw SQL ${reason}: ${text.replaceAll(/[\uFFFA-\uFFFC]/g, "?").slice(0, 60)}`);
  };
  // Text and quoted names cannot read a table. A backslash could end them where this pattern does not.
  if (text.includes("\\")) refuse("with a backslash");
  const bare = text.replaceAll(/'(?:[^']|'')*'|"(?:[^"]|"")*"/g, (quoted) =>
    hasMark(quoted) ? refuse("with a value inside of quotes") : ` ${quoted.startsWith("'") ? VALUE : QUOTED} `,
  );
  // Other characters quote as well, such as a dollar in PostgreSQL, or stand for a parameter, such as a colon in SQLite.
  const other = OTHERS[engine].exec(bare);
  if (other !== null) refuse(`with ${other[0]} outside of quotes`);
  if (/--|\/\*|;/.test(bare)) refuse("with a comment or a semicolon");
  if (words(bare).some(([word]) => WORDS.test(word))) refuse("that may read or write a table");
  for (const { 0: word, index } of words(bare))
    if (engine === "sqlite" && /^in$/i.test(word) && !/^\s*\(/.test(bare.slice(index + word.length)))
      refuse("with IN before the name of a table");
  return { bare, outside: outsideOf(bare, refuse), refuse };
}

function outsideOf(bare: string, refuse: Reading["refuse"]): string {
  const compared = bare.replaceAll(/\bis\s+(?:not\s+)?distinct\s+from\b/gi, " ");
  let outside = "";
  let depth = 0;
  for (const [token] of compared.matchAll(/[a-z_]\w*|[^a-z_]/gi)) {
    if (CLAUSES.test(token) && (depth === 0 || /^(?:join|into)$/i.test(token))) refuse(`with ${token}`);
    if (token === "(") depth++;
    else if (token === ")" && --depth < 0) refuse("that closes a parenthesis it did not open");
    else if (depth === 0 && token !== ")") outside += token;
  }
  if (depth > 0) refuse("with an open parenthesis");
  return outside;
}

/** The words of a text, which may follow a number without a space. */
function words(text: string): RegExpExecArray[] {
  return [...text.matchAll(/[a-z_]\w*/gi)];
}

/** The characters that neither begin nor end a quote. PostgreSQL takes other spaces for letters. */
const OTHERS: Readonly<Record<GuardedEngine, RegExp>> = {
  postgres: /[^\w \t\r\n\f\uFFFA-\uFFFC.,()+\-*/%<>=!|&^~#:;?@[\]]/u,
  sqlite: /[^\w \t\r\n\f\uFFFA-\uFFFC.,()+\-*/%<>=!|&^~;]/u,
};

const CLAUSES = /^(?:from|join|using|into)$/i;
/** Both grammars read and write tables only with these words, with CLAUSES, and SQLite with IN. */
const WORDS =
  /^(?:select|table|insert|update|delete|merge|truncate|union|except|intersect|copy|call|do|execute|lock|returning)$/i;

/** The text of a fragment with those inside it, because `${sql.raw("sel")}${sql.raw("ect")}` is a word. */
function flattened({ sqlFragments, parameters }: RawNode): string {
  return sqlFragments.reduce((text, fragment, at) => {
    if (hasMark(fragment)) throw unguarded("raw SQL with U+FFFA, U+FFFB or U+FFFC");
    const parameter = parameters[at];
    return text + fragment + (parameter === undefined ? "" : textOf(parameter));
  }, "");
}

function textOf(parameter: OperationNode): string {
  if (RawNode.is(parameter)) return flattened(parameter);
  if (IN_PARENTHESES.has(parameter.kind)) return ` (${VALUE}) `;
  return ` ${parameter.kind === "ValueNode" ? VALUE : NAMES.has(parameter.kind) ? QUOTED : EXPRESSION} `;
}

const hasMark = (text: string): boolean => /[\uFFFA-\uFFFC]/.test(text);

/** The nodes that are sent as quoted names. */
const NAMES: ReadonlySet<string> = new Set([
  "ColumnNode",
  "IdentifierNode",
  "ReferenceNode",
  "SchemableIdentifierNode",
  "TableNode",
]);

/** The nodes that Kysely puts in parentheses, so that they may follow IN. */
export const IN_PARENTHESES: ReadonlySet<string> = new Set([
  "ParensNode",
  "PrimitiveValueListNode",
  "SelectQueryNode",
  "TupleNode",
  "ValueListNode",
]);

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
