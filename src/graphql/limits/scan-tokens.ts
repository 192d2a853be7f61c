/** The measures of a document that are taken from its text, before it is parsed. */
export interface TokenScan {
  /** Tokens and comments. Counting stops at one more than the maximum. */
  readonly tokens: number;
  /** How deeply brackets nest. */
  readonly nesting: number;
}

/** The maximum nesting of brackets: the parser recurses, and Node's stack overflows at about twice as many. */
export const MAX_NESTED = 1000;

/**
 * Counts the tokens of a document as graphql's lexer does, including comments, without creating token objects. Stops as
 * soon as there are more than `most`, and at text that the lexer would reject: the parser then reports the error.
 */
export function scanTokens(source: string, most: number): TokenScan {
  let tokens = 0;
  let nesting = 0;
  let open = 0;
  for (let at = 0; at < source.length; ) {
    const code = source.charCodeAt(at);
    if (isIgnored(code)) {
      at++;
      continue;
    }
    const end = endOf(source, at, code);
    if (end === at) break;
    at = end;
    if (++tokens > most) break;
    if (code === 0x7b || code === 0x5b || code === 0x28) nesting = Math.max(nesting, ++open);
    else if (code === 0x7d || code === 0x5d || code === 0x29) open--;
    if (nesting > MAX_NESTED && most === Number.POSITIVE_INFINITY) break;
  }
  return { tokens, nesting };
}

/** Tab, line feed, carriage return, space, comma, byte order mark. */
function isIgnored(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x2c || code === 0x09 || code === 0x0d || code === 0xfeff;
}

/** The end of the token that starts at `at`; `at` itself if no token starts there. */
function endOf(source: string, at: number, code: number): number {
  if (isNamePart(code) && !isDigit(code)) return endOfRun(source, at + 1, isNamePart);
  if (isDigit(code) || code === 0x2d) return endOfNumber(source, at + 1);
  if (code === 0x23) return endOfRun(source, at + 1, isNotLineEnd);
  if (code === 0x22) return source.startsWith('"""', at) ? endOfBlock(source, at + 3) : endOfString(source, at + 1);
  if (code === 0x2e) return source.startsWith("...", at) ? at + 3 : at;
  return PUNCTUATION.has(code) ? at + 1 : at;
}

const PUNCTUATION = new Set(Buffer.from("!$&():=@[]{|}"));

function endOfRun(source: string, from: number, belongs: (code: number) => boolean): number {
  let at = from;
  while (at < source.length && belongs(source.charCodeAt(at))) at++;
  return at;
}

function endOfNumber(source: string, from: number): number {
  let at = endOfRun(source, from, isDigit);
  if (source.charCodeAt(at) === 0x2e) at = endOfRun(source, at + 1, isDigit);
  if ((source.charCodeAt(at) | 0x20) !== 0x65) return at;
  at++;
  if (source.charCodeAt(at) === 0x2b || source.charCodeAt(at) === 0x2d) at++;
  return endOfRun(source, at, isDigit);
}

function endOfString(source: string, from: number): number {
  let at = from;
  while (at < source.length) {
    const code = source.charCodeAt(at++);
    if (code === 0x5c) at++;
    else if (code === 0x22 || !isNotLineEnd(code)) break;
  }
  return at;
}

function endOfBlock(source: string, from: number): number {
  for (let at = source.indexOf('"""', from); at !== -1; at = source.indexOf('"""', at + 3)) {
    if (source.charCodeAt(at - 1) !== 0x5c) return at + 3;
  }
  return source.length;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function isNamePart(code: number): boolean {
  const lower = code | 0x20;
  return (lower >= 0x61 && lower <= 0x7a) || isDigit(code) || code === 0x5f;
}

function isNotLineEnd(code: number): boolean {
  return code !== 0x0a && code !== 0x0d;
}
