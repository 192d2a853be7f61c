import { retrying } from "./retrying.ts";

/**
 * Sends a request with an idempotency key, again after an outage: the server does its work once. Without a key, sends it once.
 *
 * @param isIdempotent whether the server accepts a key for it
 */
export function sendOnce<T>(
  isIdempotent: boolean,
  send: (key: string | undefined) => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  if (!isIdempotent) return send(undefined);
  const key = newKey();
  return retrying(() => send(key), undefined, signal);
}

/** `crypto.randomUUID` exists only on pages with HTTPS. */
function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Strings and comments, which may contain anything, then names and punctuators. */
const TOKENS = /"""[\s\S]*?"""|"(?:\\.|[^"\\])*"|#.*|\.{3}|[_A-Za-z]\w*|[^\s,]/g;

/** The root fields of a document that begins with a mutation. Empty for any other, and for one with a fragment as its root. */
export function mutationFields(query: string): readonly string[] {
  const tokens = (query.match(TOKENS) ?? []).filter((token) => !/^["#]/.test(token));
  if (tokens[0] !== "mutation") return [];
  const fields: string[] = [];
  let braces = 0;
  let parens = 0;
  for (const [index, token] of tokens.entries()) {
    if (token === "(") parens++;
    else if (token === ")") parens--;
    else if (parens > 0) continue;
    else if (token === "{") braces++;
    else if (token === "}" && --braces === 0) return fields;
    else if (braces !== 1) continue;
    else if (token === "...") return [];
    else if (/^\w/.test(token) && tokens[index - 1] !== "@" && tokens[index + 1] !== ":") fields.push(token);
  }
  return fields;
}
