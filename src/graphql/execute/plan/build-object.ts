import { failObject, type Gather, gatherInto } from "./gather.ts";
import { Pending } from "./pending.ts";
import type { PlanField } from "./plan-field.ts";
import type { Path, Run } from "./run.ts";

/** Executes a selection on an object. Returns the object of the response, or a `Pending`; throws a located error. */
export type BuildObject = (run: Run, source: unknown, path: Path | undefined) => unknown;

/** A selection on one object type. */
export interface ObjectShape {
  /** An object with the keys of the response in their order. `__typename` is already there, other values are null. */
  readonly template: Readonly<Record<string, unknown>>;
  readonly fields: readonly PlanField[];
}

/** Executes the fields of an object one after another. */
export function buildPlainly({ template, fields }: ObjectShape): BuildObject {
  return (run, source, path) => buildFrom(fields, 0, { ...template }, null, run, source, path);
}

/** Executes the fields of an object from an index on. */
export function buildFrom(
  fields: readonly PlanField[],
  from: number,
  target: Record<string, unknown>,
  before: Gather | null,
  run: Run,
  source: unknown,
  path: Path | undefined,
): unknown {
  let gather = before;
  for (let index = from; index < fields.length; index++) {
    const field = fields[index] as PlanField;
    let value: unknown;
    try {
      value = field.take(run, source, path);
    } catch (error) {
      return failObject(gather, error);
    }
    if (value instanceof Pending) {
      gather = gatherInto(gather, target, field.key, value);
      if (run.slices.isPausing && index + 1 < fields.length)
        return buildLater(fields, index + 1, target, gather, run, source, path);
    } else target[field.key] = value;
  }
  return gather === null ? target : gather.close();
}

/** Executes the fields of an object from an index on, after the lists in the fields before it that pause. */
export function buildLater(
  ...[fields, from, target, before, run, source, path]: Parameters<typeof buildFrom>
): Pending {
  return run.slices.later(() =>
    // Without the pause, a list that fails would have ended its object at once.
    before?.failure
      ? failObject(before, before.failure.error)
      : buildFrom(fields, from, target, before, run, source, path),
  );
}
