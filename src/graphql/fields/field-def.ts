import type { MaybePromise } from "../../core/maybe-promise.ts";
import type { Args, ResolverArgs, TestArgs } from "./args.ts";
import type { FieldDeclaration, FieldHead } from "./field-declaration.ts";

declare const PARENT: unique symbol;
declare const PROPERTY: unique symbol;

/** Under which root type, or whether in an object, a field stands. */
export type Operation = "field" | "mutation" | "subscription";

/** A field with its resolver, ready for `object()` or `schema()`. */
export interface FieldDef<in Parent, out Result = unknown, in Call = any, out Op extends Operation = Operation> {
  readonly "~kind": "field";
  readonly operation: Op;
  /** @internal */
  readonly "~field": FieldDeclaration;
  readonly [PARENT]?: (parent: Parent) => void;
  /** The bare resolver, for unit tests: no gate, no dependencies but those that you hand in. */
  resolve(args: Call): Result;
}

/** `field(type, options)` without a resolver: in `object()` it is the property of that name. */
export interface PropertyField<in Parent, out Result = unknown> {
  readonly "~kind": "property";
  /** @internal */
  readonly "~head": FieldHead;
  readonly [PROPERTY]?: { readonly result: Result; of(parent: Parent): void };
}

/** Takes the resolver, or stands behind `@` on a method or property. Of the signatures TypeScript reports the last. */
export interface FieldFactory<Result, P, Gated, GateParent, Op extends Operation>
  extends PropertyField<GateParent, Result> {
  /** The wrapper: everything the resolver takes is inferred. */
  <Parent extends GateParent>(
    resolver: (args: ResolverArgs<P, Parent, Gated>) => MaybePromise<Result>,
    context?: undefined,
  ): FieldDef<Parent, MaybePromise<Result>, TestArgs<P, Parent, Gated>, Op>;
  /** A legacy decorator of a property. */
  <K extends string>(target: { readonly [N in K]: Result }, key: K): void;
  /** A legacy decorator of a method. */
  <This extends GateParent, M extends (args: Args<P, This, Gated>) => MaybePromise<Result>>(
    target: This,
    key: string,
    descriptor: TypedPropertyDescriptor<M>,
  ): void;
  /** A decorator of a property. */
  <This extends GateParent>(value: undefined, context: ClassFieldDecoratorContext<This, Result>): void;
  /** A decorator of a method. */
  <This extends GateParent>(
    method: (this: This, args: Args<P, This, Gated>) => MaybePromise<Result>,
    context: ClassMethodDecoratorContext<This>,
  ): void;
}

/** Takes an async generator, or stands behind `@` on one. */
export interface SubscriptionFactory<Event, P, Gated> {
  (
    resolver: (args: ResolverArgs<P, undefined, Gated>) => AsyncGenerator<Event, void, void>,
    context?: undefined,
  ): FieldDef<unknown, AsyncGenerator<Event, void, void>, TestArgs<P, undefined, Gated>, "subscription">;
  <This, M extends (args: Args<P, This, Gated>) => AsyncGenerator<Event, void, void>>(
    target: This,
    key: string,
    descriptor: TypedPropertyDescriptor<M>,
  ): void;
  <This>(
    method: (this: This, args: Args<P, This, Gated>) => AsyncGenerator<Event, void, void>,
    context: ClassMethodDecoratorContext<This>,
  ): void;
}

export function isFieldDef(value: unknown): value is FieldDef<never> {
  return typeof value === "object" && value !== null && (value as { "~kind"?: unknown })["~kind"] === "field";
}

export function isPropertyField(value: unknown): value is PropertyField<never> {
  return typeof value === "function" && (value as { "~kind"?: unknown })["~kind"] === "property";
}
