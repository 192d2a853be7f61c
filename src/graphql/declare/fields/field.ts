import type { MaybePromise } from "../../../core/maybe-promise.ts";
import type { OutOf, OutputRef } from "../references/graph-type.ts";
import { ResolverError } from "../references/resolver-error.ts";
import type { Params } from "./args.ts";
import { registerMember } from "./class-members.ts";
import { declareHead, declareProperty, declareResolver } from "./declare-head.ts";
import type { Operation } from "./field-declaration.ts";
import { type FieldDeclaration, type FieldHead } from "./field-declaration.ts";
import type { FieldDef, FieldFactory, SubscriptionFactory, TopicSubscriptionFactory, WithReads } from "./field-def.ts";
import type {
  FieldOptions,
  IsGated,
  MutationOptions,
  SubscriptionOptions,
  TopicSubscriptionOptions,
} from "./field-options.ts";

/** The type of `field`. */
export interface FieldFunction<Op extends Operation> {
  <
    T extends OutputRef,
    const P extends Params = {},
    GateParent = unknown,
    Yes extends boolean = never,
    Verdict extends MaybePromise<boolean> = never,
    Required extends boolean = never,
    const Reads extends string = never,
  >(
    type: T,
    options?: FieldOptions<P, GateParent, Yes, Verdict, Required, Reads>,
  ): FieldFactory<OutOf<T>, P, IsGated<Yes, Verdict, Required>, WithReads<GateParent, Reads>, Op, Reads>;
}

/** The type of `mutation`. */
export interface MutationFunction {
  <
    T extends OutputRef,
    const P extends Params = {},
    GateParent = unknown,
    Yes extends boolean = never,
    Verdict extends MaybePromise<boolean> = never,
    Required extends boolean = never,
    const Reads extends string = never,
  >(
    type: T,
    options?: MutationOptions<P, GateParent, Yes, Verdict, Required, Reads>,
  ): FieldFactory<OutOf<T>, P, IsGated<Yes, Verdict, Required>, WithReads<GateParent, Reads>, "mutation", Reads>;
}

/**
 * Declares a field of the query type or of an object. `field(type, options)` takes a resolver, or decorates a method or
 * property of a class. In `object()`, without a resolver, it exposes the property of that name.
 *
 * The resolver destructures one object with the declared `params`, and with `ctx`, `context`, `parent`, `root`, `self`
 * and `info`, which need no declaration. While the module is imported, any other name, `...rest` and a second parameter
 * throw `ResolverError`, and an invalid option throws `ConfigurationError`.
 *
 * @example
 * ```ts
 * import { Depend } from "portico";
 * import { field, schema, t } from "portico/graphql";
 *
 * const shelf = () => ["Middlemarch", "Emma", "Persuasion"];
 *
 * const query = {
 *   titles: field(t.list(t.string), { params: { limit: t.int(10), shelf: Depend(shelf) } })(({ limit, shelf }) =>
 *     shelf.slice(0, limit),
 *   ),
 * };
 * export default schema({ query });
 * ```
 */
export const field: FieldFunction<"field"> = factory("field");

/**
 * Declares a field of the mutation type. The rules of `field` apply.
 *
 * @example
 * ```ts
 * import { mutation, t } from "portico/graphql";
 *
 * export const addBook = mutation(t.string, {
 *   params: { title: t.string },
 *   auth: (user) => user.hasPermission("write:books"),
 * })(({ title }) => `added ${title}`);
 * ```
 */
export const mutation: MutationFunction = factory("mutation");

/** The type of `subscription`. */
export interface SubscriptionFunction {
  <
    T extends OutputRef,
    Event,
    const P extends Params = {},
    Yes extends boolean = never,
    Verdict extends MaybePromise<boolean> = never,
    Required extends boolean = never,
  >(
    type: T,
    options: TopicSubscriptionOptions<P, Event, Yes, Verdict, Required>,
  ): TopicSubscriptionFactory<OutOf<T>, P, Event, IsGated<Yes, Verdict, Required>>;
  <
    T extends OutputRef,
    const P extends Params = {},
    Yes extends boolean = never,
    Verdict extends MaybePromise<boolean> = never,
    Required extends boolean = never,
  >(
    type: T,
    options?: SubscriptionOptions<P, undefined, Yes, Verdict, Required>,
  ): SubscriptionFactory<OutOf<T>, P, IsGated<Yes, Verdict, Required>>;
}

/**
 * Declares a field of the subscription type. Its resolver is an async generator, and every value that it yields is an
 * event. The declared dependencies live as long as the subscription. Each event runs as a separate operation.
 *
 * With `from`, it follows a durable topic, and clients can resume it. Its resolver then returns the value of one event, or
 * `undefined` to skip it. Without a resolver, the event is the value. The dependencies belong to the event.
 *
 * @example
 * ```ts
 * import { subscription, t } from "portico/graphql";
 *
 * export const ticks = subscription(t.int, { params: { to: t.int(3) } })(async function* ({ to }) {
 *   for (let tick = 1; tick <= to; tick++) yield tick;
 * });
 * ```
 */
export const subscription: SubscriptionFunction = factory("subscription");

function factory(operation: Operation): (type: unknown, options?: unknown) => any {
  return (type, options) => fieldFactory(declareHead(operation, type, options));
}

/** Returns the function that takes the resolver of a field, or decorates a member. */
export function fieldFactory(head: FieldHead): any {
  // The wrapper form has one argument. A standard decorator has its context as the second, a legacy one the key.
  const use = (target: unknown, second?: unknown, descriptor?: PropertyDescriptor): unknown => {
    if (second === undefined) return fieldDef(declareResolver(head.operation, head, target, null));
    if (typeof second === "object" && second !== null) return decorate(head, target, second as AnyDecoratorContext);
    return decorateLegacy(head, target as object, second as string | symbol, descriptor);
  };
  return Object.assign(use, { "~kind": "property", "~head": head, "~event": head.options.from !== undefined });
}

function fieldDef(field: FieldDeclaration): FieldDef<never> {
  const resolver = field.resolver as (args: object) => unknown;
  return { "~kind": "field", operation: field.operation, "~field": field, resolve: (args: object) => resolver(args) };
}

type AnyDecoratorContext = ClassMemberDecoratorContext | ClassDecoratorContext;

function decorate(head: FieldHead, value: unknown, context: AnyDecoratorContext): void {
  const key = memberKey(head, context.name);
  const place = `${head.operation} ${key}`;
  if ((context.kind !== "method" && context.kind !== "field") || context.static || context.private)
    throw new ResolverError(
      place,
      "the decorator can only be used on a method or a property that is neither static nor private",
    );
  // Importing this module sets Symbol.metadata, so this happens only if other code replaced it.
  if (typeof context.metadata !== "object")
    throw new ResolverError(
      place,
      "the decorator received no metadata. Was Symbol.metadata changed after portico/graphql was imported?",
    );
  const field =
    context.kind === "method" ? declareResolver(place, head, value, key) : declareProperty(place, head, key);
  registerMember(context.metadata, { key, field });
}

function decorateLegacy(
  head: FieldHead,
  target: object,
  name: string | symbol,
  descriptor: PropertyDescriptor | undefined,
): void {
  const key = memberKey(head, name);
  const place = `${head.operation} ${key}`;
  if (typeof target === "function" || (descriptor !== undefined && typeof descriptor.value !== "function"))
    throw new ResolverError(
      place,
      "the decorator can only be used on a method or a property that is neither static nor private",
    );
  const isMethod = descriptor !== undefined;
  const field = isMethod ? declareResolver(place, head, descriptor.value, key) : declareProperty(place, head, key);
  registerMember(target, { key, field });
}

function memberKey(head: FieldHead, name: string | symbol | undefined): string {
  if (typeof name === "string") return name;
  throw new ResolverError(head.operation, `the name of a field must be a string, received ${String(name)}`);
}
