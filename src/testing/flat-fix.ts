import type { WatchedStatement } from "./watch-statements.ts";

/** A column that is compared with one value, such as `"books"."author_id" = $1`, as Kysely writes it. */
const COMPARED = /["`](\w+)["`] = (?:\$\d|\?)/;

/** Says which field or route repeats a statement, and how to send it once. */
export function flatFix({ place, sql, isConnection }: WatchedStatement): string {
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
