import { andThen, isPromise, type MaybePromise } from "../core/maybe-promise.ts";
import { PorticoError } from "../core/portico-error.ts";
import type { Callable } from "./depend.ts";
import type { ParamPlan, ProviderPlan, SubjectPlan } from "./param-plan.ts";
import { Denial } from "./subject.ts";

type AnyGenerator = Generator<unknown, unknown, unknown> | AsyncGenerator<unknown, unknown, unknown>;

/** A dependency could not be provided: it yielded nothing, or the scope has ended. */
export class DependencyError extends PorticoError {
  override readonly name: string = "DependencyError";

  constructor(message: string, options: { readonly cause?: unknown } = {}) {
    super("DEPENDENCY_FAILED", message, { status: 500, ...options });
  }
}

/** Callables that replace others. */
export type Overrides = ReadonlyMap<Callable, (args: object) => unknown>;

export interface ScopeOptions {
  readonly overrides?: Overrides;
  /** Whether a callable is resolved once for the whole scope, as in a GraphQL operation. On a route it is not. */
  readonly shared: boolean;
  /**
   * Creates the error for a declared context that is not the current one. Without it, or if it returns `null`, a
   * `DependencyError` is thrown.
   */
  readonly otherContext?: (declared: unknown, parameter: string) => Error | null;
}

/** The place whose parameters are filled, for the objects among them. */
export interface SubjectPlace {
  /** The values that load functions receive. */
  readonly given: object;
  /** Called when an object is not granted. */
  denied(): void;
}

/**
 * The dependencies of one request or one operation: opened on demand, closed together.
 *
 * A dependency that does not wait is resolved without a promise. `close()` waits for those that are still being opened, then
 * closes the generators in the reverse order of their opening, each exactly once, even if others fail.
 */
export class DependencyScope {
  readonly #ctx: object;
  readonly #values: Map<Callable, unknown> | null;
  readonly #options: ScopeOptions;
  #open: { readonly name: string; readonly generator: AnyGenerator }[] = [];
  #opening: Set<Promise<unknown>> | null = null;
  #closed: Promise<readonly unknown[]> | null = null;
  #hasGenerators = false;
  #refusal: (() => Error) | null = null;

  constructor(ctx: object, options: ScopeOptions) {
    this.#ctx = ctx;
    this.#values = options.shared ? new Map() : null;
    this.#options = options;
  }

  /** Resolves the parameters in order and writes each into `target`. Returns a promise only if one of them needs it. */
  fill(
    params: readonly ParamPlan[],
    target: Record<string, unknown>,
    place: SubjectPlace | null = null,
  ): MaybePromise<void> {
    for (let i = 0; i < params.length; i++) {
      const param = params[i] as ParamPlan;
      const value = this.#param(param, target, place);
      if (isPromise(value)) return this.#fillLater(params, i, value, target, place);
      target[param.name] = value;
    }
  }

  async #fillLater(
    params: readonly ParamPlan[],
    from: number,
    first: PromiseLike<unknown>,
    target: Record<string, unknown>,
    place: SubjectPlace | null,
  ): Promise<void> {
    target[(params[from] as ParamPlan).name] = await first;
    for (const param of params.slice(from + 1)) target[param.name] = await this.#param(param, target, place);
  }

  #param(param: ParamPlan, target: Record<string, unknown>, place: SubjectPlace | null): unknown {
    if (param.provider !== null) return this.resolve(param.provider);
    if (param.subject !== null) return this.#subject(param.subject, target, place);
    if (this.#ctx instanceof param.context) return this.#ctx;
    const refusal = this.#options.otherContext?.(param.context, param.name) ?? null;
    if (refusal !== null) throw refusal;
    throw new DependencyError(
      `the parameter ${param.name} needs a ${param.context.name}, but this is a ${this.#ctx.constructor.name}`,
    );
  }

  /** Loads an object, and returns it if it is granted. */
  #subject({ subject, params }: SubjectPlan, target: Record<string, unknown>, place: SubjectPlace | null): unknown {
    const args = Object.create(place?.given ?? target) as Record<string, unknown>;
    for (const { name, from } of params) args[name] = target[from];
    const granted = (object: unknown): unknown => subject["~grant"](this.#ctx as never, object);
    const load = this.#options.overrides?.get(subject["~load"]) ?? subject["~load"];
    const loaded: unknown = load(args as never);
    return andThen(andThen(loaded, granted), (object) => {
      if (!(object instanceof Denial)) return object;
      place?.denied();
      throw object.error;
    });
  }

  /** The value of one dependency, without a promise if nothing has to be awaited. */
  resolve(plan: ProviderPlan): unknown {
    if (this.#closed !== null) throw new DependencyError(`${plan.name} was requested after its request had ended`);
    const values = this.#values;
    if (values === null) return this.#call(plan);
    if (values.has(plan.identity)) return recall(values.get(plan.identity));

    const value = this.#callOnce(plan, values);
    values.set(plan.identity, value);
    // Later readers get the value without a promise, and a failure stays a failure for all of them.
    if (isPromise(value))
      value.then(
        (resolved) => values.set(plan.identity, resolved),
        () => {},
      );
    return value;
  }

  #callOnce(plan: ProviderPlan, values: Map<Callable, unknown>): unknown {
    try {
      return this.#call(plan);
    } catch (error) {
      values.set(plan.identity, new Failure(error));
      throw error;
    }
  }

  #call(plan: ProviderPlan): unknown {
    const args: Record<string, unknown> = { ctx: this.#ctx, context: this.#ctx };
    const override = this.#options.overrides?.get(plan.identity);
    if (override !== undefined) return this.#start({ ...plan, call: override, params: [] }, args);
    const filled = plan.params.length === 0 ? undefined : this.fill(plan.params, args);
    return filled === undefined ? this.#start(plan, args) : this.#track(filled.then(() => this.#start(plan, args)));
  }

  #start(plan: ProviderPlan, args: object): unknown {
    // Checked again, because the scope may have begun to close while the dependencies were being opened.
    if (this.#closed !== null) throw new DependencyError(`${plan.name} was requested after its request had ended`);
    const result = plan.call(args);
    if (isGenerator(result)) return this.#enter(plan.name, result);
    return isPromise(result) ? this.#track(Promise.resolve(result)) : result;
  }

  /** From now on, a generator is refused with this error before it runs. */
  openNoGenerators(refusal: () => Error): void {
    this.#refusal = refusal;
  }

  #enter(name: string, generator: AnyGenerator): unknown {
    if (this.#refusal !== null) throw this.#refusal();
    const opened = ({ value, done }: IteratorResult<unknown, unknown>): unknown => {
      if (done === true) throw new DependencyError(`${name} is a generator that yielded nothing`);
      this.#open.push({ name, generator });
      this.#hasGenerators = true;
      return value;
    };
    const first = generator.next();
    return isPromise(first) ? this.#track(first.then(opened)) : opened(first);
  }

  #track<T>(promise: Promise<T>): Promise<T> {
    this.#opening ??= new Set();
    const opening = this.#opening;
    opening.add(promise);
    const settle = (): void => {
      opening.delete(promise);
    };
    promise.then(settle, settle);
    return promise;
  }

  /** Closes everything that is open and returns the errors. Calling it again returns the same promise. */
  close(): Promise<readonly unknown[]> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /** Whether there is anything to close. */
  get isIdle(): boolean {
    return this.#open.length === 0 && (this.#opening === null || this.#opening.size === 0);
  }

  /** Whether it has opened a generator, which may be closed by now. */
  get hasGenerators(): boolean {
    return this.#hasGenerators;
  }

  async #close(): Promise<readonly unknown[]> {
    while (this.#opening !== null && this.#opening.size > 0) await Promise.allSettled(this.#opening);
    const errors: unknown[] = [];
    for (const { name, generator } of this.#open.reverse()) {
      try {
        const { done } = await generator.return(undefined);
        if (done !== true) throw new DependencyError(`${name} yielded again while it was being closed`);
      } catch (error) {
        errors.push(error);
      }
    }
    this.#open = [];
    return errors;
  }
}

/** An error that a callable threw synchronously. The callable is not called again for the next reader. */
class Failure {
  readonly error: unknown;
  constructor(error: unknown) {
    this.error = error;
  }
}

function recall(value: unknown): unknown {
  if (value instanceof Failure) throw value.error;
  return value;
}

function isGenerator(value: unknown): value is AnyGenerator {
  const tag = Object.prototype.toString.call(value);
  return tag === "[object Generator]" || tag === "[object AsyncGenerator]";
}
