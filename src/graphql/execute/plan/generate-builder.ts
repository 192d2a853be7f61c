import { isInstance } from "../../../core/describe-error.ts";
import { type BuildObject, buildFrom, buildLater, type ObjectShape } from "./build-object.ts";
import { failObject, type Gather, gatherInto } from "./gather.ts";
import { AS_IS_CODE } from "./is-as-is.ts";
import { Pending } from "./pending.ts";
import { PlainField, type PlanField, readable } from "./plan-field.ts";
import type { Path, Run } from "./run.ts";

/**
 * Generates a function for a selection that is executed often. It reads the properties by their names and creates the object of
 * the response as a literal, which V8 executes several times as fast as a loop over the fields. Every value that is not
 * already in its final form goes to the field, as in the loop.
 *
 * The code contains only names that graphql's parser accepted. Returns `null` if the process forbids `new Function`.
 */
export function generateBuilder({ template, fields }: ObjectShape): BuildObject | null {
  const keys = Object.entries(template).map(([key, value]) => `${propertyName(key)}: ${quoted(value)}`);
  const code = `"use strict";
return (run, source, path) => {
  const o = { ${keys.join(", ")} };
  const s = readable(source);
  let v, gather = null, at = 0;
  try {
${fields.map((field, index) => fieldCode(field, index, index === fields.length - 1)).join("\n")}
  } catch (error) {
    return at < 0 ? failObject(gather, error) : resume(fields, at, o, gather, run, source, path, error);
  }
  return gather === null ? o : gather.close();
};`;
  const create = factoryOf(code);
  return create === null ? null : create(fields, readable, Pending, gatherInto, failObject, resume, buildLater);
}

/** `at` is the index of the field while its property is read, and negative while the field handles its own errors. */
function fieldCode(field: PlanField, index: number, isLast: boolean): string {
  const key = quoted(field.key);
  const pause = isLast
    ? ""
    : ` if (run.slices.isPausing) return buildLater(fields, ${index + 1}, o, gather, run, source, path);`;
  const take = (call: string): string =>
    `at = -1; v = fields[${index}].${call}; if (v instanceof Pending) { gather = gatherInto(gather, o, ${key}, v); v = null;${pause} }`;
  if (!(field instanceof PlainField)) return `    ${take("take(run, source, path)")} o[${key}] = v;`;
  const test = field.asIs === null ? "false" : AS_IS_CODE[field.asIs];
  const read = `    at = ${index}; v = s[${quoted(field.name)}];`;
  const complete = take("takeValue(run, source, path, v)");
  const other = field.isNonNull ? complete : `if (v === null || v === undefined) v = null; else { ${complete} }`;
  return `${read} if (!(${test})) { ${other} } o[${key}] = v;`;
}

/** Continues after a getter has thrown. */
function resume(
  fields: readonly PlanField[],
  at: number,
  target: Record<string, unknown>,
  gather: Gather | null,
  run: Run,
  source: unknown,
  path: Path | undefined,
  error: unknown,
): unknown {
  const field = fields[at] as PlainField;
  try {
    target[field.key] = field.failRead(run, path, error);
  } catch (located) {
    return failObject(gather, located);
  }
  return buildFrom(fields, at + 1, target, gather, run, source, path);
}

type Factory = (
  fields: readonly PlanField[],
  ...helpers: readonly [
    typeof readable,
    typeof Pending,
    typeof gatherInto,
    typeof failObject,
    typeof resume,
    typeof buildLater,
  ]
) => BuildObject;

/** Documents often select the same fields, and then share the code that V8 has optimized. */
const factories = new Map<string, Factory>();
const MAX_FACTORIES = 1_000;

function factoryOf(code: string): Factory | null {
  const known = factories.get(code);
  if (known !== undefined) return known;
  try {
    // oxlint-disable-next-line typescript/no-implied-eval -- it contains only names that graphql's parser accepted
    const factory = new Function(
      "fields",
      "readable",
      "Pending",
      "gatherInto",
      "failObject",
      "resume",
      "buildLater",
      code,
    ) as Factory;
    if (factories.size >= MAX_FACTORIES) factories.clear();
    factories.set(code, factory);
    return factory;
  } catch (error) {
    // node --disallow-code-generation-from-strings
    if (!isInstance(error, EvalError)) throw error;
    return null;
  }
}

/** In a literal, `"__proto__": null` would set the prototype. */
function propertyName(key: string): string {
  return key === "__proto__" ? `[${quoted(key)}]` : quoted(key);
}

function quoted(value: unknown): string {
  return JSON.stringify(value);
}
