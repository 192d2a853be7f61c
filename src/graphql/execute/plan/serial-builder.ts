import type { BuildObject, ObjectShape } from "./build-object.ts";
import { forward, Pending } from "./pending.ts";
import type { PlanField } from "./plan-field.ts";
import type { Run } from "./run.ts";

/**
 * Executes the root fields of a mutation: each starts after the one before it is complete. Those that must not run after a
 * failure stay null.
 */
export function serialBuilder({ template, fields }: ObjectShape): BuildObject {
  return (run, source) => continueFrom(fields, 0, { ...template }, run, source);
}

function continueFrom(
  fields: readonly PlanField[],
  from: number,
  target: Record<string, unknown>,
  run: Run,
  source: unknown,
): unknown {
  for (let index = from; index < fields.length; index++) {
    if (index > 0 && !run.mayGoOn(target)) return target;
    const field = fields[index] as PlanField;
    const value = field.take(run, source, undefined);
    if (value instanceof Pending) {
      const rest = new Pending();
      const settled = (later: unknown): void => {
        target[field.key] = later;
        forward(() => continueFrom(fields, index + 1, target, run, source), rest);
      };
      value.belongsTo({ settled, failed: (error) => rest.fail(error) });
      return rest;
    }
    target[field.key] = value;
  }
  return target;
}
