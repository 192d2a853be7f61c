import type { MaybePromise } from "../../../core/maybe-promise.ts";
import type { Args, ResolverArgs, TestArgs } from "./args.ts";
import type { FieldDeclaration, FieldHead, Operation } from "./field-declaration.ts";

declare const PARENT: unique symbol;
declare const PROPERTY: unique symbol;

/** A field with its resolver, ready for `object()` or `schema()`. */
export interface FieldDef<in Parent, out Result = unknown, in Call = any, out Op extends Operation = Operation> {
  readonly "~kind": "field";
  readonly operation: Op;
  /** @internal */
  readonly "~field": FieldDeclaration;
  readonly [PARENT]?: (parent: Parent) => void;
  /** The bare resolver, for unit tests: it checks no gate and receives only the dependencies that you pass. */
  resolve(args: Call): Result;
}

/** `field(type, options)` without a resolver: in `object()` it exposes the property of that name. */
export interface PropertyField<in Parent, out Result = unknown> {
  readonly "~kind": "property";
  /** @internal */
  readonly "~head": FieldHead;
  readonly [PROPERTY]?: { readonly result: Result; of(parent: Parent): void };
}

/** The parent that a field with `reads` can be declared in. */
export type WithReads<Parent, Reads extends string> = [Reads] extends [never]
  ? Parent
  : Parent & { readonly [C in Reads]: unknown };
/** The parent that a resolver receives: with `reads`, only these columns. */
export type ReadParent<Parent, Reads extends string> = [Reads] extends [never]
  ? Parent
  : Pick<Parent, Extract<Reads, keyof Parent>>;

/** Takes the resolver, or decorates a method or property. TypeScript reports errors against the last signature. */
export interface FieldFactory<Result, P, Gated, GateParent, Op extends Operation, Reads extends string = never>
  extends PropertyField<GateParent, Result> {
  /** The wrapper form: all parameters of the resolver are inferred. */
  <Parent extends GateParent>(
    resolver: (args: ResolverArgs<P, ReadParent<Parent, Reads>, Gated>) => MaybePromise<Result>,
    context?: undefined,
  ): FieldDef<Parent, MaybePromise<Result>, TestArgs<P, ReadParent<Parent, Reads>, Gated>, Op>;
  /** The legacy decorator of a property. */
  <K extends string>(target: { readonly [N in K]: Result }, key: K): void;
  /** The legacy decorator of a method. */
  <This extends GateParent, M extends (args: Args<P, This, Gated>) => MaybePromise<Result>>(
    target: This,
    key: string,
    descriptor: TypedPropertyDescriptor<M>,
  ): void;
  /** The decorator of a property. */
  <This extends GateParent>(value: undefined, context: ClassFieldDecoratorContext<This, Result>): void;
  /** The decorator of a method. */
  <This extends GateParent>(
    method: (this: This, args: Args<P, This, Gated>) => MaybePromise<Result>,
    context: ClassMethodDecoratorContext<This>,
  ): void;
}

/** The arguments, and the event of the topic. */
type EventArgs<P, Event, Gated> = Args<P, undefined, Gated> & { readonly event: Event };

/** Takes the resolver for each event of a topic. Without one, the event is the value. */
export interface TopicSubscriptionFactory<Value, P, Event, Gated> {
  readonly "~kind": "property";
  /** Whether the schema takes it without a resolver. */
  readonly "~event": [Event] extends [Value] ? true : false;
  /** Returns the value of an event, or `undefined` to skip it. */
  (
    resolver: (args: EventArgs<P, Event, Gated> & true) => MaybePromise<Value | undefined>,
    context?: undefined,
  ): FieldDef<
    unknown,
    MaybePromise<Value | undefined>,
    TestArgs<P, undefined, Gated> & { readonly event: Event },
    "subscription"
  >;
  <This, M extends (args: EventArgs<P, Event, Gated>) => MaybePromise<Value | undefined>>(
    target: This,
    key: string,
    descriptor: TypedPropertyDescriptor<M>,
  ): void;
  <This>(
    method: (this: This, args: EventArgs<P, Event, Gated>) => MaybePromise<Value | undefined>,
    context: ClassMethodDecoratorContext<This>,
  ): void;
}

/** Takes an async generator function, or decorates one. */
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
