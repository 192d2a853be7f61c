import { SourceReader } from "./source-reader.ts";

/** One parameter of a function, read from its source. */
export interface SourceParameter {
  readonly kind: "object" | "rest" | "other";
  /** Whether it has a default as a whole: `({ a } = {})`, not `({ a = 1 })`. */
  readonly hasDefault: boolean;
  /** The keys of an object pattern, in their order. */
  readonly keys: readonly string[];
  /** Whether an object pattern has a rest element: `({ a, ...others })`. */
  readonly hasRest: boolean;
}

/**
 * Reads the parameters of a function from its source. JavaScript has no other way to determine which keys a function
 * destructures, and minifiers keep these keys. Returns `null` if the source does not show them: for a native or bound
 * function, a class, or a computed key.
 */
export function sourceParameters(callable: (...args: never) => unknown): readonly SourceParameter[] | null {
  const source = Function.prototype.toString.call(callable);
  if (/\{\s*\[native code\]\s*\}$/.test(source)) return null;
  const reader = new SourceReader(source);
  const single = skipToParameters(reader);
  if (single !== "list") return single;

  const parameters: SourceParameter[] = [];
  for (;;) {
    if (reader.take(")")) return parameters;
    const parameter = readParameter(reader);
    if (parameter === null) return null;
    parameters.push(parameter);
    if (!reader.take(",") && !reader.isAt(")")) return null;
  }
}

/**
 * Skips `async function* name`, `static "a key"`, `[computed]`. Returns the parameter of an arrow without parentheses.
 */
function skipToParameters(reader: SourceReader): "list" | readonly SourceParameter[] | null {
  for (;;) {
    if (reader.take("(")) return "list";
    if (reader.take("*") || reader.take("#")) continue;
    if (reader.isAt("[")) {
      reader.skipExpression("(");
      continue;
    }
    const word = reader.word();
    if (word === null || word === "class") return null;
    if (reader.isAt("=>")) return [OTHER];
  }
}

const OTHER: SourceParameter = { kind: "other", hasDefault: false, keys: [], hasRest: false };

function readParameter(reader: SourceReader): SourceParameter | null {
  if (reader.take("...")) {
    reader.skipExpression(")");
    return { ...OTHER, kind: "rest" };
  }
  if (!reader.isAt("{")) {
    if (reader.isAt("[")) reader.skipExpression("=,)");
    else if (reader.word() === null) return null;
    return { ...OTHER, hasDefault: skipDefault(reader) };
  }
  const pattern = readPattern(reader);
  return pattern === null ? null : { kind: "object", ...pattern, hasDefault: skipDefault(reader) };
}

function readPattern(reader: SourceReader): { readonly keys: string[]; readonly hasRest: boolean } | null {
  const keys: string[] = [];
  let hasRest = false;
  reader.take("{");
  for (;;) {
    if (reader.take("}")) return { keys, hasRest };
    if (reader.take("...")) hasRest = true;
    else {
      const key = reader.word();
      if (key === null) return null;
      keys.push(key);
    }
    reader.skipExpression(",}");
    if (!reader.take(",") && !reader.isAt("}")) return null;
  }
}

function skipDefault(reader: SourceReader): boolean {
  if (!reader.take("=")) return false;
  reader.skipExpression(",)");
  return true;
}
