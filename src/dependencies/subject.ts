import type { Callable, Dependency, InjectedOf } from "./depend.ts";

declare const OBJECT: unique symbol;

/** An object that a handler is about, as a parameter: it is loaded, and the handler runs only if it is granted. */
export interface AnySubject {
  readonly "~kind": "subject";
  readonly "~params": Readonly<Record<string, unknown>>;
  readonly "~load": Callable;
  /** Returns the object, or the `Denial`. */
  readonly "~grant": (ctx: never, object: unknown) => unknown;
}

/** An object of the type `T`, loaded with the values `A`: those of its place, and its own parameters `Own`. */
export interface Subject<out T, in A, out Own = unknown> extends AnySubject {
  readonly [OBJECT]?: (given: A) => readonly [T, Own];
}

/** The caller may not have the object. The scope throws its error. */
export class Denial {
  readonly error: Error;
  constructor(error: Error) {
    this.error = error;
  }
}

/** The type of a declared parameter in its handler. */
export type GivenOf<P> = P extends Subject<infer T, any> ? T : InjectedOf<P>;

/** Names the subject that needs values which its place does not have. The type is a sentence, for a readable error. */
export type CheckSubjects<P, Given> = {
  readonly [K in keyof P]: P[K] extends Dependency<any>
    ? unknown
    : P[K] extends Subject<any, infer A, infer Own>
      ? Given & Own extends A
        ? unknown
        : { readonly "the load function needs other values than this place has": Given }
      : unknown;
};

export function isSubject(value: unknown): value is AnySubject {
  return typeof value === "object" && value !== null && (value as { "~kind"?: unknown })["~kind"] === "subject";
}
