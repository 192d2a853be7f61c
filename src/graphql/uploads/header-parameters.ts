/** A header such as `form-data; name="0"`. */
export interface ParameterizedHeader {
  /** What stands before the parameters, in lower case. */
  readonly value: string;
  /** By name, in lower case. */
  readonly parameters: ReadonlyMap<string, string>;
}

const VALUE = /\s*([^\s;"]*)\s*(?=;|$)/y;
// A backslash escapes a quote and itself alone: old clients send Windows paths as they are.
const PARAMETER = /;\s*([\w!#$%&'*+.^`|~-]+)\s*=\s*(?:"((?:[^"\\]|\\[^])*)"|([^\s;"]*))\s*(?=;|$)/y;

/**
 * Reads a value with parameters, RFC 9110 section 5.6.6; `null` when it is malformed, or has a parameter twice: two readers
 * could choose differently.
 */
export function parseParameters(header: string): ParameterizedHeader | null {
  VALUE.lastIndex = 0;
  const value = VALUE.exec(header)?.[1];
  if (value === undefined) return null;
  const parameters = new Map<string, string>();
  let index = VALUE.lastIndex;
  while (index < header.length) {
    PARAMETER.lastIndex = index;
    const [whole, name = "", quoted, token = ""] = PARAMETER.exec(header) ?? [];
    if (whole === undefined) return /^[;\s]*$/.test(header.slice(index)) ? { value: lower(value), parameters } : null;
    if (parameters.has(lower(name))) return null;
    parameters.set(lower(name), quoted === undefined ? token : quoted.replace(/\\(["\\])/g, "$1"));
    index += whole.length;
  }
  return { value: lower(value), parameters };
}

function lower(text: string): string {
  return text.toLowerCase();
}
