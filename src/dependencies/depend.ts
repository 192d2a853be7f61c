import { ConfigurationError } from "../core/configuration-error.ts";

// This folder is independent of any context class: `http/routing/depend.ts` binds it to Portico's.

declare const VALUE: unique symbol;

/** The type that a generator yields, that a promise resolves to, or the type itself. */
export type Unwrap<R> = R extends AsyncGenerator<infer Y, any, any> | Generator<infer Y, any, any> ? Y : Awaited<R>;

/** `Depend(f)` as a parameter: the value that `f` resolves to is passed in under the parameter's name. */
export interface Dependency<out T> {
  readonly "~kind": "depend";
  readonly "~provider": Callable | Provider<unknown>;
  readonly [VALUE]?: T;
}

/** A callable with its own parameters, made by `provide`. */
export interface Provider<out T> {
  readonly "~kind": "provider";
  readonly "~params": Readonly<Record<string, unknown>>;
  readonly "~call": Callable;
  readonly [VALUE]?: T;
}

export type Callable = (args: never) => unknown;

/**
 * A context class as a parameter. It names its instance, because `infer` from a generic class would return
 * `HttpContext<unknown>`.
 */
export interface ContextClass<out C> {
  readonly "~instance": C;
}

/** The types a parameter may be declared with: a dependency or a context. */
export type Injectable<C> = ContextClass<C> | Dependency<any>;
export type InjectedOf<P> = P extends Dependency<infer T> ? T : P extends ContextClass<infer C> ? C : never;
/** The declared parameters as the function receives them. */
export type Injected<P> = { readonly [K in keyof P]: InjectedOf<P[K]> };

/** Names that are already taken. The type is a sentence, so that the compile-time error is readable. */
export type Reserved<Name extends string, Sentence extends string> = { readonly [K in Name]?: Sentence };
/** Declared parameters; `ctx` and `context` may be declared as a context. */
export type InjectParams<C> = { readonly [name: string]: Injectable<C> } & {
  readonly [K in "ctx" | "context"]?: ContextClass<C>;
};

/** The names that every provider receives without declaring them. */
export interface ProviderAmbient<C> {
  readonly ctx: C;
  readonly context: C;
}
export type ProviderArgs<P, C> = Injected<P> & Omit<ProviderAmbient<C>, keyof P>;

/** `Depend(f)`: a plain function or generator, or the result of `provide`. */
export interface DependFunction<C> {
  <T>(provider: Provider<T>): Dependency<T>;
  <R>(provider: (args: ProviderAmbient<C>) => R): Dependency<Unwrap<R>>;
}

/** `provide(params)(f)`: a dependency with dependencies; `provide(f)`: a dependency with a typed `ctx`. */
export interface ProvideFunction<C> {
  <R>(call: (args: ProviderAmbient<C>) => R): Provider<Unwrap<R>>;
  <const P extends InjectParams<C>>(params: P): <R>(call: (args: ProviderArgs<P, C>) => R) => Provider<Unwrap<R>>;
}

const declared = new WeakSet<Callable>();

export function depend(provider: Callable | Provider<unknown>): Dependency<unknown> {
  if (typeof provider !== "function" && !isProvider(provider))
    throw new ConfigurationError("Depend", "given a function, or the result of provide()", provider);
  noteDeclared(callableOf(provider));
  return Object.freeze({ "~kind": "depend", "~provider": provider });
}

export function provide(
  first: Callable | Readonly<Record<string, unknown>>,
): Provider<unknown> | ((call: Callable) => Provider<unknown>) {
  if (typeof first === "function") return provider({}, first);
  if (typeof first !== "object" || first === null)
    throw new ConfigurationError("provide", "given parameters or a function", first);
  return (call) => provider(first, call);
}

function provider(params: Readonly<Record<string, unknown>>, call: Callable): Provider<unknown> {
  if (typeof call !== "function") throw new ConfigurationError("provide", "given a function", call);
  return Object.freeze({ "~kind": "provider", "~params": params, "~call": call });
}

/** The author's own function, in whichever way it was declared. */
export function callableOf(provider: Callable | Provider<unknown>): Callable {
  return typeof provider === "function" ? provider : provider["~call"];
}

/** Notes that a function is declared, and can be replaced. */
export function noteDeclared(callable: Callable): void {
  declared.add(callable);
}

/** Whether anything in this process declares the function with `Depend`, or as what loads an object. */
export function isDeclared(callable: Callable): boolean {
  return declared.has(callable);
}

export function isDependency(value: unknown): value is Dependency<unknown> {
  return typeof value === "object" && value !== null && (value as { "~kind"?: unknown })["~kind"] === "depend";
}

export function isContextClass(
  value: unknown,
): value is ContextClass<unknown> & (abstract new (...args: never) => object) {
  return typeof value === "function" && "~instance" in value;
}

function isProvider(value: unknown): value is Provider<unknown> {
  return typeof value === "object" && value !== null && (value as { "~kind"?: unknown })["~kind"] === "provider";
}
