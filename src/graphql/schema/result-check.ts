import { andThen } from "../../core/maybe-promise.ts";
import { Refusal } from "../../kernel/access/refusal.ts";
import { NotFound } from "../../kernel/exceptions/http-exception.ts";
import { denialFrom } from "../errors/graphql-denied.ts";
import type { Resolve, ResultCheck } from "./compile-resolver.ts";
import { ABSENT, type TypeGuard } from "./type-guard.ts";

/** The conditions that the result of a field has to meet. */
export interface ResultRules {
  /** Whether null is an error, although the field is nullable in the schema. */
  readonly isPresent: boolean;
  readonly guard: TypeGuard | null;
  /** Whether the field is a mutation, which fails if its result is refused: its work must not stay. */
  readonly isMutation: boolean;
}

/** Returns the check of a field's results; `null` if there is nothing to check. */
export function resultCheck(place: string, { isPresent, guard, isMutation }: ResultRules): ResultCheck | null {
  if (!isPresent && guard === null) return null;
  const settle = (guarded: unknown): unknown => {
    if (guarded instanceof Refusal) throw denialFrom(guarded.error);
    if (guarded !== ABSENT) return guarded;
    if (isMutation) throw new NotFound();
    return null;
  };
  return (result, graph, info) => {
    if (isPresent && (result === null || result === undefined))
      throw new Error(`Cannot return null for non-nullable field ${place}.`);
    if (guard === null) return result;
    const guarded = guard(result, graph, info);
    return andThen(guarded, settle);
  };
}

/**
 * Drops the events of a subscription whose object is refused, or whose list has only refused objects.
 *
 * @param resolve reads the object from the event; by default the event is the object
 */
export function screened(subscribe: Resolve, guard: TypeGuard | null, resolve: Resolve = eventItself): Resolve {
  if (guard === null) return subscribe;
  return (source, raw, graph, info) => {
    graph.isDropped = (event, now) =>
      andThen(resolve(event, raw, now, info), (value) =>
        andThen(guard(value, now, info), (guarded) => isGone(value, guarded)),
      );
    return subscribe(source, raw, graph, info);
  };
}

const eventItself: Resolve = (event) => event;

function isGone(event: unknown, guarded: unknown): boolean {
  if (guarded === ABSENT) return true;
  return isEmpty(guarded) && !isEmpty(event);
}

function isEmpty(list: unknown): boolean {
  return Array.isArray(list) && list.every((item) => item === null);
}
