import { createHash } from "node:crypto";

// A server keeps named statements as long as the connection is open, so their number is limited.
const MAX_NAMES = 256;
const MAX_SELECTED = 128;
const USES_BEFORE_NAME = 2;
const MAX_COUNTED = 4_096;

const names = new Map<string, string>();
const uses = new Map<string, number>();

/**
 * Records a use of a statement. A repeated statement gets a name, while names are left. Clients can choose the columns of
 * statements in many ways, which must not use up the names of the others.
 */
export function noteUse(text: string, isSelected = false): void {
  if (names.has(text) || names.size >= (isSelected ? MAX_SELECTED : MAX_NAMES)) return;
  const count = (uses.get(text) ?? 0) + 1;
  if (count > USES_BEFORE_NAME) {
    uses.delete(text);
    names.set(text, `portico_${createHash("sha256").update(text).digest("base64url").slice(0, 22)}`);
  } else if (uses.size < MAX_COUNTED) {
    uses.set(text, count);
  }
}

/** Returns the name of a statement, if it has one. */
export function preparedName(text: string): string | undefined {
  return names.get(text);
}

/** Renames a statement whose current name has an outdated plan on servers. */
export function renew(text: string, name: string): void {
  if (names.get(text) === name) names.set(text, `${name.slice(0, FIXED_LENGTH)}_${++renewals}`);
}

const FIXED_LENGTH = "portico_".length + 22;
let renewals = 0;
