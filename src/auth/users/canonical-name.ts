/**
 * An address or a name as it is compared: without regard to case, to the form of its characters, and to blanks around it. For a
 * user model of your own: keep it beside what was typed, unique, and look it up by that.
 *
 * @example
 * ```ts
 * import { canonicalName } from "portico/auth";
 *
 * canonicalName(" Ann@Example.org ") === canonicalName("ann@example.org"); // true
 * ```
 */
export function canonicalName(text: string): string {
  return text.normalize("NFKC").trim().toLowerCase().normalize("NFKC");
}
