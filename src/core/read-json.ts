/** Below this many characters, no text takes long to parse. */
export const SHORT_JSON = 65_536;
/** The most objects, arrays and keys of a text, and of each further 16 characters of a long one. */
const MAX_NODES = 65_536;
const CHARACTERS_PER_NODE = 16;

/** The value of a text, or the reason why it has none: a sentence if it is too large, and `null` if it is not JSON. */
export type ReadJson =
  | { readonly value: unknown; readonly fault?: undefined }
  | { readonly value?: undefined; readonly fault: string | null };

/**
 * Parses JSON that a client wrote. Lint accepts `JSON.parse` for no other text of a client, because it cannot pause: a megabyte
 * of objects, arrays and keys takes it a hundred milliseconds, and a megabyte of other values ten.
 */
export function readJson(text: string): ReadJson {
  const most = Math.max(MAX_NODES, text.length / CHARACTERS_PER_NODE);
  if (text.length > SHORT_JSON && hasMoreNodes(text, most))
    return { fault: `The JSON has more than ${Math.floor(most)} objects, arrays and keys` };
  try {
    return { value: JSON.parse(text) };
  } catch {
    return { fault: null };
  }
}

function hasMoreNodes(text: string, most: number): boolean {
  let left = most;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if ((code === OBJECT || code === ARRAY || code === COLON) && --left < 0) return true;
  }
  return false;
}

/** The index of the quote that ends the string which begins here. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code === BACKSLASH) at++;
  }
  return text.length;
}

const [QUOTE, BACKSLASH, OBJECT, ARRAY, COLON] = [0x22, 0x5c, 0x7b, 0x5b, 0x3a];
