import { domainToUnicode } from "node:url";
import { isStreamSafe } from "../../core/is-stream-safe.ts";

/** NFKC makes four times less of a text at most, and no name has more than 254 characters. */
const LONGEST = 4 * 254;
/** The longest domain that can be in an address. */
const LONGEST_DOMAIN = 253;
/**
 * An address or a name as it is compared: without regard to case, to the form of its characters, and to blanks around it. A domain
 * in Punycode is the domain that it stands for. For a user model of your own: keep it beside what was typed, unique, and look it up
 * by that.
 *
 * A text that cannot be a name is returned as it is, in constant time: one of more than 1,016 characters, or with more than 30
 * combining marks in a row. Reject such names.
 *
 * @example
 * ```ts
 * import { canonicalName } from "portico/auth";
 *
 * canonicalName(" Ann@Example.org ") === canonicalName("ann@example.org"); // true
 * canonicalName("ann@xn--bcher-kva.example") === canonicalName("ann@bücher.example"); // true
 * ```
 */
export function canonicalName(text: string): string {
  if (text.length > LONGEST || !isStreamSafe(text)) return text;
  const name = text.normalize("NFKC").trim().toLowerCase().normalize("NFKC");
  const start = name.lastIndexOf("@") + 1;
  const domain = name.slice(start);
  const isEncoded =
    start > 0 && domain.includes("xn--") && domain.length <= LONGEST_DOMAIN && /^[a-z0-9.-]+$/.test(domain);
  return isEncoded ? name.slice(0, start) + (domainToUnicode(domain) || domain) : name;
}
