/** A header such as `form-data; name="0"`. */
export interface ParameterizedHeader {
  /** The text before the parameters, in lower case. */
  readonly value: string;
  /** By name, in lower case. */
  readonly parameters: ReadonlyMap<string, string>;
}

// Two runs of spaces never meet in these patterns, and no pattern uses lookahead, so each reads a text once. Only a space and a
// tab are whitespace in a header; `\s` would also drop the byte 0xA0.
const VALUE = /[\t ]*(?:([^\t ;"]+)[\t ]*)?/y;
// A backslash escapes only a quote and itself, because old clients send Windows paths unescaped.
const PARAMETER = /;[\t ]*([\w!#$%&'*+.^`|~-]+)[\t ]*=[\t ]*(?:(?:"((?:[^"\\]|\\[^])*)"|([^\t ;"]+))[\t ]*)?/y;
const REST = /[\t ;]*$/y;

/**
 * Parses a value with parameters, RFC 9110 section 5.6.6. Returns `null` if it is malformed or repeats a parameter, which two
 * parsers could resolve differently.
 */
export function parseParameters(header: string): ParameterizedHeader | null {
  VALUE.lastIndex = 0;
  const value = VALUE.exec(header)?.[1] ?? "";
  const parameters = new Map<string, string>();
  let index = VALUE.lastIndex;
  for (;;) {
    PARAMETER.lastIndex = index;
    const [whole, name = "", quoted, token = ""] = PARAMETER.exec(header) ?? [];
    if (whole === undefined) break;
    if (parameters.has(lower(name))) return null;
    parameters.set(lower(name), quoted === undefined ? token : quoted.replace(/\\(["\\])/g, "$1"));
    index += whole.length;
  }
  REST.lastIndex = index;
  return REST.test(header) ? { value: lower(value), parameters } : null;
}

function lower(text: string): string {
  return text.toLowerCase();
}
