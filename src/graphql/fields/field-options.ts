import type { GraphQLResolveInfo } from "graphql";
import { ConfigurationError } from "../../core/configuration-error.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import { flag, type Rule, resolveOptions, rule, text, wholeNumber } from "../../core/resolve-options.ts";
import type { BaseContext } from "../../http/context/http-context.ts";
import type { AnonymousUser, Caller, CurrentUser } from "../../http/identity/identity.ts";
import type { RateLimit } from "../../http/limits/rate-limit.ts";
import type { InOf } from "../types/graph-type.ts";
import type { InjectedParam } from "./args.ts";

/** The arguments among the parameters, as a gate sees them. */
export type GateInput<P> = { readonly [K in keyof P as P[K] extends InjectedParam ? never : K]: InOf<P[K]> };
/** What a gate may look at beside the user. */
export interface GateArgs<Parent, P> {
  /** `unknown` unless the gate says which: `(user, { parent }: Of<BookRow>) => ...`; the field then fits that object alone. */
  readonly parent: Parent;
  readonly args: GateInput<P>;
  readonly ctx: BaseContext<CurrentUser>;
}
/**
 * Names the object that a gate, or the `filter` of a connection, looks at; with it come the context, which a loader takes,
 * and the arguments of the parameters that it names, `Of<OrderRow, typeof params>`. The user of a gate is its first
 * parameter: `ctx.user` is `Caller` here, because a filter without a gate runs for anonymous callers too.
 *
 * @example
 * ```ts
 * import { field, type Of, t } from "portico/graphql";
 *
 * interface OrderRow { id: string; buyer: string; address: string }
 *
 * export const address = field(t.string, { auth: (user, { parent }: Of<OrderRow>) => parent.buyer === user.identity })(
 *   ({ parent }) => parent.address,
 * );
 * ```
 */
export interface Of<Parent, P = {}> extends Omit<GateArgs<Parent, P>, "ctx"> {
  readonly ctx: BaseContext<[AnonymousUser] extends [CurrentUser] ? CurrentUser : Caller>;
}

/**
 * Decides whether a field may be read: an entry of `permissionClasses`, as an instance or as a class that is constructed
 * once, without arguments. Only `true` grants. A method that throws or rejects denies, and the log has the error.
 *
 * It is called for every object that the field is read from, and for anonymous callers too: `currentContext()` has the
 * caller.
 *
 * @example
 * ```ts
 * import { currentContext } from "portico";
 * import { field, type FieldPermission, t } from "portico/graphql";
 *
 * class MayAudit implements FieldPermission {
 *   hasPermission(): boolean {
 *     return currentContext()?.user.hasPermission("read:audit") === true;
 *   }
 * }
 *
 * export const audit = field(t.nullable(t.string), { permissionClasses: [MayAudit] })(() => "all quiet");
 * ```
 */
export interface FieldPermission {
  /** `source` is the object that the field belongs to, `undefined` at a root; `info` is graphql's resolve info. */
  hasPermission(source: unknown, info: GraphQLResolveInfo): MaybePromise<boolean>;
}

/** By how much a list multiplies the cost of what is selected in it. */
export type ListSize<Argument extends string = string> =
  | number
  | {
      /** The argument that says how many are asked for; of several, such as `first` and `last`, the largest counts. */
      readonly argument: Argument | readonly Argument[];
      /** More than so many it never gives. */
      readonly max: number;
      /** What is assumed when the argument is null or missing. @default `max` */
      readonly assumed?: number;
    };

/** What a field says about itself. `Yes` and `Verdict` are `never` as long as `auth` is absent. */
export interface FieldOptions<P, Parent, Yes extends true, Verdict extends MaybePromise<boolean>> {
  /** What the resolver takes by name: arguments, dependencies, contexts. */
  readonly params?: P;
  /**
   * `true`: someone must be signed in. A function decides for those who are; it is never called for nobody. One that takes
   * the user alone is asked once per operation, one that takes a second parameter for every object.
   */
  readonly auth?: Yes | ((user: CurrentUser, gate: GateArgs<Parent, NoInfer<P>>) => Verdict);
  /**
   * How often it may be called: what `rateLimit()` returns. Counted for every call, under whatever alias and for every object,
   * after the gate and before anything else; too many are `RATE_LIMITED`, on that field alone. Of a subscription its starts
   * count. @default as often as one likes
   */
  readonly limit?: RateLimit;
  /** What one selection of this field counts against the budget. @default 1 */
  readonly cost?: number;
  /** How many times what is selected below counts. @default 1 */
  readonly listSize?: ListSize<Extract<keyof GateInput<NoInfer<P>>, string>>;
  /** Its name in the schema. @default the key it is declared under */
  readonly name?: string;
  readonly description?: string;
  readonly deprecationReason?: string;
  /**
   * Every entry must grant the field, and so must `auth`, which is checked first. The list itself is in the field's
   * `extensions`, unchanged. @default none
   */
  readonly permissionClasses?: readonly (FieldPermission | (new () => FieldPermission))[];
  /** For other tools: handed to graphql, unchanged. */
  readonly extensions?: Readonly<Record<string, unknown>>;
}

/** What a subscription says about itself. */
export interface SubscriptionOptions<P, Parent, Yes extends true, Verdict extends MaybePromise<boolean>>
  extends FieldOptions<P, Parent, Yes, Verdict> {
  /** One execution for all who ask with the same document and variables; `ctx.user` and `ctx.request` throw in it. */
  readonly shared?: boolean;
}

/** Whether a field has a gate. */
export type IsGated<Yes, Verdict> = [Yes | Verdict] extends [never] ? false : true;

/** A gate as it was written. */
export type GateFunction = (user: never, gate: never) => unknown;

/** The options of one field, checked. */
export interface ResolvedFieldOptions {
  readonly params: Readonly<Record<string, unknown>> | undefined;
  readonly auth: true | GateFunction | undefined;
  readonly limit: RateLimit | undefined;
  readonly cost: number | undefined;
  readonly listSize: ListSize | undefined;
  readonly name: string | undefined;
  readonly description: string | undefined;
  readonly deprecationReason: string | undefined;
  readonly permissionClasses: readonly unknown[] | undefined;
  readonly extensions: Readonly<Record<string, unknown>> | undefined;
  readonly shared: boolean | undefined;
}

const OURS = ["cost", "listSize", "permissionClasses", "shared"];

/** Checks the options of a field while it is declared: `ConfigurationError` for what is unknown or wrong. */
export function readFieldOptions(operation: string, options: unknown): ResolvedFieldOptions {
  if (options === undefined) return NOTHING;
  const read = resolveOptions(operation, options, rules);
  if (read.shared !== undefined && operation !== "subscription")
    throw new ConfigurationError(`${operation}.shared`, "is an option of subscriptions");
  if (read.shared === true && read.limit !== undefined)
    throw new ConfigurationError(`${operation}.limit`, "counts who is calling, and a shared subscription knows nobody");
  const taken = OURS.find((name) => Object.hasOwn(read.extensions ?? {}, name));
  if (taken !== undefined)
    throw new ConfigurationError(`${operation}.extensions.${taken}`, `is what the option ${taken} writes: use that`);
  return read;
}

/** What a field carries to graphql beside its type: Portico's own keys, and whatever the author gave. */
export function fieldExtensions(options: ResolvedFieldOptions): Record<string, unknown> {
  if (options === NOTHING) return {};
  const own = {
    cost: options.cost,
    listSize: options.listSize,
    permissionClasses: options.permissionClasses,
    shared: options.shared,
  };
  return {
    ...options.extensions,
    ...Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined)),
  };
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;

const auth: Rule<true | GateFunction> = {
  ...rule<true | GateFunction>(
    "true, or a function of the user that returns true or false",
    (value) => value === true || typeof value === "function",
  ),
  strict: true,
};

const rules = {
  params: rule<Readonly<Record<string, unknown>>>(
    "an object of parameters",
    (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  ),
  auth,
  limit: rule<RateLimit>(
    "what rateLimit() returns",
    (value) => typeof value === "function" && typeof (value as Partial<RateLimit>).attempt === "function",
  ),
  cost: wholeNumber,
  listSize: rule<ListSize>("a whole number, or { argument, max, assumed }", isListSize),
  name: text,
  description: text,
  deprecationReason: text,
  permissionClasses: rule<readonly unknown[]>("a list", Array.isArray),
  extensions: rule<Readonly<Record<string, unknown>>>(
    "an object",
    (value) => typeof value === "object" && value !== null,
  ),
  shared: flag,
} as const;

const NOTHING: ResolvedFieldOptions = resolveOptions("field", {}, rules);

const isText = (value: unknown): boolean => typeof value === "string";

/** The arguments that say how long a list is. */
export function sizeArguments(size: ListSize | undefined): readonly string[] {
  if (typeof size !== "object") return [];
  return typeof size.argument === "string" ? [size.argument] : size.argument;
}

function isListSize(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return isCount(value);
  const { argument, max, assumed, ...others } = value as Record<string, unknown>;
  const isNamed =
    typeof argument === "string" || (Array.isArray(argument) && argument.length > 0 && argument.every(isText));
  const isComplete = isNamed && isCount(max) && (assumed === undefined || isCount(assumed));
  return isComplete && Object.keys(others).length === 0;
}
