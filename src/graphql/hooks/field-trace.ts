import { defaultFieldResolver, type GraphQLFieldResolver, type GraphQLSchema, isObjectType } from "graphql";
import type { Clock } from "../../core/clock.ts";
import { isPromise } from "../../core/maybe-promise.ts";
import { withReadsOf } from "../fields/reads.ts";

/** How long one field took in one operation. */
export interface FieldTiming {
  /** Type and name: `Book.author`. */
  readonly field: string;
  /** How often it was resolved. */
  readonly calls: number;
  /** The longest of its calls, in milliseconds. */
  readonly slowestMs: number;
}

/** How long the fields of one operation took, without the fields below them. */
export class FieldTrace {
  readonly #clock: Clock;
  readonly #fields = new Map<string, { calls: number; slowestMs: number }>();

  /** @internal */
  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The slowest fields, the slowest first. */
  slowest(count: number): readonly FieldTiming[] {
    return [...this.#fields]
      .map(([field, timing]) => ({ field, ...timing }))
      .toSorted((a, b) => b.slowestMs - a.slowestMs)
      .slice(0, count);
  }

  /** @internal Times one call, until its promise settles. */
  time(field: string, resolve: () => unknown): unknown {
    const started = this.#clock.monotonic();
    const record = (): void => this.#add(field, this.#clock.monotonic() - started);
    let value: unknown;
    try {
      value = resolve();
    } catch (error) {
      record();
      throw error;
    }
    if (isPromise(value)) value.then(record, record);
    else record();
    return value;
  }

  #add(field: string, ms: number): void {
    const timing = this.#fields.get(field);
    if (timing === undefined) {
      this.#fields.set(field, { calls: 1, slowestMs: ms });
      return;
    }
    timing.calls++;
    if (ms > timing.slowestMs) timing.slowestMs = ms;
  }
}

const traced = new WeakSet<GraphQLSchema>();

/**
 * Wraps the resolvers of a schema so that they time themselves if the operation has a trace. It changes the schema, so it
 * runs only when a hook needs traces: without one, fields have no extra cost.
 */
export function traceFields(schema: GraphQLSchema): void {
  if (traced.has(schema)) return;
  traced.add(schema);
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith("__")) continue;
    for (const field of Object.values(type.getFields()))
      field.resolve = withReadsOf(field, timed(`${type.name}.${field.name}`, field.resolve ?? defaultFieldResolver));
  }
}

type Resolver = GraphQLFieldResolver<unknown, unknown>;

function timed(field: string, resolve: Resolver): Resolver {
  return function timedResolver(...call) {
    const { trace } = (call[2] ?? {}) as { readonly trace?: unknown };
    return trace instanceof FieldTrace ? trace.time(field, () => resolve(...call)) : resolve(...call);
  };
}
