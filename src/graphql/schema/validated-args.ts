import { ArgumentsInvalid } from "../declare/fields/arguments-invalid.ts";
import type { CompleteInput } from "./input-completion.ts";
import type { InputFindings, Validate } from "./input-validation.ts";

export type RawArgs = Readonly<Record<string, unknown>>;

/** How one argument is passed to the resolver. */
export interface ArgPlan {
  /** The name in the resolver. */
  readonly key: string;
  /** The name in the schema. */
  readonly name: string;
  readonly complete: CompleteInput;
  readonly validate: Validate;
}

/**
 * Validates all arguments of a field together, once for each call: the gate and the resolver receive the same values. Calls
 * are distinguished by the object of their arguments. In its copy, the arguments with a schema are complete and valid. `null` if
 * no argument has a schema.
 */
export function validatedArgs(args: readonly ArgPlan[]): ((raw: RawArgs) => RawArgs) | null {
  if (args.every(({ validate }) => validate === null)) return null;
  const known = new WeakMap<RawArgs, RawArgs>();
  return (raw) => {
    const before = known.get(raw);
    if (before !== undefined) return before;
    const values: Record<string, unknown> = { ...raw };
    const findings: InputFindings = { path: [], issues: [] };
    const wrong: string[] = [];
    for (const { name, complete, validate } of args) {
      if (validate === null) continue;
      const found = findings.issues.length;
      findings.path.push(name);
      values[name] = validate(complete === null ? raw[name] : complete(raw[name]), findings);
      findings.path.pop();
      if (findings.issues.length > found) wrong.push(name);
    }
    if (wrong.length > 0) throw new ArgumentsInvalid(wrong, findings.issues);
    known.set(raw, values);
    return values;
  };
}
