import { REFUSED, type Rule } from "../../core/resolve-options.ts";

/** A media type, `image/png`, or a family of them, `image/*`. */
export type ContentType = `${string}/${string}`;

// RFC 9110 section 5.6.2.
const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const TYPE = new RegExp(`^(?!\\*)${TOKEN}/${TOKEN}$`);

/** An allow-list, in lower case. A wildcard stands for a whole subtype or for nothing: `image/p*` and `*` would mislead. */
export const contentTypeList: Rule<readonly ContentType[]> = {
  expected: 'a list of media types such as "image/png" or "image/*" (empty allows all)',
  read(value) {
    if (!Array.isArray(value) || !value.every(isListable)) return REFUSED;
    return Object.freeze(value.map((type) => type.toLowerCase() as ContentType));
  },
};

function isListable(value: unknown): value is ContentType {
  return typeof value === "string" && TYPE.test(value) && (!value.includes("*") || /^[^*]+\/\*$/.test(value));
}

/** The type that a part declares, in lower case and without parameters; `null` when it declares none, or none that is one. */
export function declaredType(header: string | undefined): string | null {
  const type = (header ?? "").split(";", 1)[0]?.trim().toLowerCase() as string;
  return TYPE.test(type) && !type.includes("*") ? type : null;
}

/** Whether the list lets the type through; an empty one lets through anything. */
export function isAllowedType(type: string | null, allowed: readonly ContentType[]): boolean {
  if (allowed.length === 0) return true;
  if (type === null) return false;
  return allowed.some((entry) => (entry.endsWith("/*") ? type.startsWith(entry.slice(0, -1)) : type === entry));
}
