import type { MaybePromise } from "../../core/maybe-promise.ts";
import type { OutOf, OutputRef } from "../types/graph-type.ts";
import type { Params } from "./args.ts";
import { registerMember } from "./class-members.ts";
import {
  declareHead,
  declareProperty,
  declareResolver,
  type FieldDeclaration,
  type FieldHead,
} from "./field-declaration.ts";
import type { FieldDef, FieldFactory, Operation, SubscriptionFactory } from "./field-def.ts";
import type { FieldOptions, IsGated, SubscriptionOptions } from "./field-options.ts";
import { ResolverError } from "./resolver-error.ts";

/** The type of `field` and `mutation`. */
export interface FieldFunction<Op extends Operation> {
  <
    T extends OutputRef,
    const P extends Params = {},
    GateParent = unknown,
    Yes extends true = never,
    Verdict extends MaybePromise<boolean> = never,
  >(
    type: T,
    options?: FieldOptions<P, GateParent, Yes, Verdict>,
  ): FieldFactory<OutOf<T>, P, IsGated<Yes, Verdict>, GateParent, Op>;
}

/**
 * A field of the query type or of an object: `field(type, options)` takes a resolver, or stands behind `@` on a method or
 * property of a class. In `object()`, without a resolver, it is the property of that name.
 *
 * The resolver takes one destructured object: what `params` declares, and `ctx`, `context`, `parent`, `root`, `self` and
 * `info`, which need no declaration. Throws `ResolverError` while the module is imported for a name that is neither, for
 * `...rest` and for a second parameter; `ConfigurationError` for a wrong option.
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
 * A field of the mutation type, by the same rules as `field`.
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
export const mutation: FieldFunction<"mutation"> = factory("mutation");

/**
 * A field of the subscription type: its resolver is an async generator, and every value that it yields is an event.
 * What it declares lives as long as the subscription; each event is an operation of its own.
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
export const subscription: <
  T extends OutputRef,
  const P extends Params = {},
  Yes extends true = never,
  Verdict extends MaybePromise<boolean> = never,
>(
  type: T,
  options?: SubscriptionOptions<P, undefined, Yes, Verdict>,
) => SubscriptionFactory<OutOf<T>, P, IsGated<Yes, Verdict>> = factory("subscription");

function factory(operation: Operation): (type: unknown, options?: unknown) => any {
  return (type, options) => fieldFactory(declareHead(operation, type, options));
}

/** What takes the resolver of a field. */
export function fieldFactory(head: FieldHead): any {
  // One argument is the wrapper; a standard decorator gets two, a legacy one the key as the second.
  const use = (target: unknown, second?: unknown, descriptor?: PropertyDescriptor): unknown => {
    if (second === undefined) return fieldDef(declareResolver(head.operation, head, target, null));
    if (typeof second === "object" && second !== null) return decorate(head, target, second as AnyDecoratorContext);
    return decorateLegacy(head, target as object, second as string | symbol, descriptor);
  };
  return Object.assign(use, { "~kind": "property", "~head": head });
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
    throw new ResolverError(place, "the decorator stands on a method or a property that is neither static nor private");
  // Only where something replaced the symbol that this module's imports have set.
  if (typeof context.metadata !== "object")
    throw new ResolverError(
      place,
      "the compiler gave the decorator no metadata: was Symbol.metadata changed after portico/graphql was imported?",
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
    throw new ResolverError(place, "the decorator stands on a method or a property that is neither static nor private");
  const isMethod = descriptor !== undefined;
  const field = isMethod ? declareResolver(place, head, descriptor.value, key) : declareProperty(place, head, key);
  registerMember(target, { key, field });
}

function memberKey(head: FieldHead, name: string | symbol | undefined): string {
  if (typeof name === "string") return name;
  throw new ResolverError(head.operation, `a field has a name of letters, received ${String(name)}`);
}
