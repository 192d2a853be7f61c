import { createHash } from "node:crypto";

// A server keeps a named statement for as long as the connection lives, so there are only so many.
const MOST_NAMES = 256;
const USES_BEFORE_NAME = 2;
const MOST_COUNTED = 4_096;

const names = new Map<string, string>();
const uses = new Map<string, number>();

/** Counts a use of a statement: one that comes again gets a name, while there are names left. */
export function noteUse(text: string): void {
  if (names.has(text) || names.size >= MOST_NAMES) return;
  const count = (uses.get(text) ?? 0) + 1;
  if (count > USES_BEFORE_NAME) {
    uses.delete(text);
    names.set(text, `portico_${createHash("sha256").update(text).digest("base64url").slice(0, 22)}`);
  } else if (uses.size < MOST_COUNTED) {
    uses.set(text, count);
  }
}

/** The name of a statement that has one. */
export function statementName(text: string): string | undefined {
  return names.get(text);
}

/** Takes a name back that servers connect with an old plan: the statement gets another one. */
export function renew(text: string, name: string): void {
  if (names.get(text) === name) names.set(text, `${name.slice(0, FIXED_LENGTH)}_${++renewals}`);
}

const FIXED_LENGTH = "portico_".length + 22;
let renewals = 0;
