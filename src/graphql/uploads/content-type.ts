import { type OptionRule, REFUSED } from "../../core/resolve-options.ts";

/** A media type such as `image/png`, or a family such as `image/*`. */
export type ContentType = `${string}/${string}`;

// RFC 9110 section 5.6.2.
const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const TYPE = new RegExp(`^(?!\\*)${TOKEN}/${TOKEN}$`);

/** An allow-list, in lower case. A wildcard must be the whole subtype, because `image/p*` and `*` would mislead. */
export const contentTypeList: OptionRule<readonly ContentType[]> = {
  expected: 'a list of media types such as "image/png" or "image/*" (empty allows all)',
  read(value) {
    if (!Array.isArray(value) || !value.every(isListable)) return REFUSED;
    return Object.freeze(value.map((type) => type.toLowerCase() as ContentType));
  },
};

function isListable(value: unknown): value is ContentType {
  return typeof value === "string" && TYPE.test(value) && (!value.includes("*") || /^[^*]+\/\*$/.test(value));
}

/** The declared type of a part, in lower case and without parameters; `null` if it is absent or invalid. */
export function declaredType(header: string | undefined): string | null {
  const type = (header ?? "").split(";", 1)[0]?.trim().toLowerCase() as string;
  return TYPE.test(type) && !type.includes("*") ? type : null;
}

/** Whether the list allows the type; an empty list allows all types. */
export function isAllowedType(type: string | null, allowed: readonly ContentType[]): boolean {
  if (allowed.length === 0) return true;
  if (type === null) return false;
  return allowed.some((entry) => (entry.endsWith("/*") ? type.startsWith(entry.slice(0, -1)) : type === entry));
}
