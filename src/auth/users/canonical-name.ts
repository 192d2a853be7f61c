import { domainToUnicode } from "node:url";
import { isStreamSafe } from "../../core/is-stream-safe.ts";

/** NFKC shrinks a text to a quarter at most, and no name has more than 254 characters. */
const MAX_LENGTH = 4 * 254;
/** The longest domain that DNS allows. */
const MAX_DOMAIN_LENGTH = 253;
/**
 * Returns an email address or a username in the form in which names are compared: case, Unicode form and surrounding
 * spaces do not matter, and a Punycode domain equals the domain it encodes. In your own user model, store it in a
 * unique column next to the name as typed, and look users up by it.
 *
 * A text of more than 1,016 characters, or with more than 30 combining marks in a row, is returned unchanged, because
 * normalising it could be slow. Reject such names.
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
  if (text.length > MAX_LENGTH || !isStreamSafe(text)) return text;
  const name = text.normalize("NFKC").trim().toLowerCase().normalize("NFKC");
  const start = name.lastIndexOf("@") + 1;
  const domain = name.slice(start);
  const isEncoded =
    start > 0 && domain.includes("xn--") && domain.length <= MAX_DOMAIN_LENGTH && /^[a-z0-9.-]+$/.test(domain);
  return isEncoded ? name.slice(0, start) + (domainToUnicode(domain) || domain) : name;
}
