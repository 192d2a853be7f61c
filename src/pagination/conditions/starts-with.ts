import { checkColumn, typeName } from "./check-value.ts";
import { type Condition, Term } from "./condition.ts";

/**
 * Matches rows whose column begins with this text, exactly as `startsWith` in JavaScript compares it, whatever the column's
 * collation is. Throws `TypeError` for an empty text, which would match every text.
 *
 * @example
 * ```ts
 * import { startsWith } from "portico";
 *
 * const inFolder = (path: string) => startsWith("path", `${path}/`);
 * ```
 */
export function startsWith<const C extends string>(column: C, text: string): Condition<C> {
  checkColumn("startsWith", column);
  if (typeof text !== "string")
    throw new TypeError(`startsWith("${column}", ...) requires a text, received ${typeName(text)}`);
  if (text === "")
    throw new TypeError(`startsWith("${column}", ...) requires a text that is not empty: every text begins with ""`);
  // A database has no halves of characters, which JavaScript finds at the beginning of others.
  if (!text.isWellFormed())
    throw new TypeError(`startsWith("${column}", ...) requires whole characters, received half of one`);
  return new Term({ kind: "prefix", column, value: text });
}
