import type { GraphQLResolveInfo } from "graphql";
import { ConfigurationError } from "../../../core/configuration-error.ts";
import type { MaybePromise } from "../../../core/maybe-promise.ts";
import {
  columnList,
  flag,
  objectRule,
  optionRule,
  resolveOptions,
  text,
  wholeNumber,
} from "../../../core/resolve-options.ts";
import type { CheckSubjects } from "../../../dependencies/subject.ts";
import type { Gate } from "../../../kernel/access/gate.ts";
import { authRule, type WrittenAuth } from "../../../kernel/access/read-gate.ts";
import type { BaseContext } from "../../../kernel/context/http-context.ts";
import { type IdempotentOption, idempotentRule } from "../../../kernel/idempotency/idempotent.ts";
import type { AnonymousUser, AuthScope, Caller, CurrentUser } from "../../../kernel/identity/identity.ts";
import type { RateLimit } from "../../../kernel/limits/rate-limit.ts";
import type { Topic } from "../../../stores/pub-sub.ts";
import type { InOf } from "../references/graph-type.ts";
import type { AppliedDirective } from "../references/type-node.ts";
import { directiveList } from "../references/type-options.ts";
import type { FieldGiven, InjectedParam } from "./args.ts";

/** The arguments among the parameters, as a gate receives them. */
export type GateInput<P> = { readonly [K in keyof P as P[K] extends InjectedParam ? never : K]: InOf<P[K]> };
/** The second parameter of a gate. */
export interface GateArgs<Parent, P> {
  /**
   * `unknown` unless the gate names it, `(user, { parent }: Of<BookRow>) => ...`: the field then fits only that object.
   */
  readonly parent: Parent;
  readonly args: GateInput<P>;
  readonly ctx: BaseContext<CurrentUser>;
}
/**
 * The type of the object that a gate, or the `filter` of a connection, receives: the parent, the context, which a
 * loader takes, and the arguments of the declared parameters, `Of<OrderRow, typeof params>`. In a gate, use the user
 * from the first parameter: `ctx.user` is `Caller` here, because a filter without a gate runs for anonymous callers
 * too.
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
 * Decides whether a field may be read: an entry of `permissionClasses`, as an instance or as a class that is
 * constructed once, without arguments. Only `true` allows access. If the method throws or rejects, access is denied and
 * the error is logged.
 *
 * It is called for every object that the field is read from, and for anonymous callers too. `currentContext()` returns
 * the context of the caller.
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
 * export const audit = field(t.string, { permissionClasses: [MayAudit] })(() => "all quiet");
 * ```
 */
export interface FieldPermission {
  /** `source` is the object that the field belongs to, `undefined` at a root; `info` is graphql's resolve info. */
  hasPermission(source: unknown, info: GraphQLResolveInfo): MaybePromise<boolean>;
}

/** The factor by which a list multiplies the cost of the selections in it. */
export type ListSize<Argument extends string = string> =
  | number
  | {
      /**
       * The argument that sets the number of items: a number, or a list with one entry per item. Of several, such as
       * `first` and `last`, the largest value is used.
       */
      readonly argument: Argument | readonly Argument[];
      /** The maximum number of items that the list returns. */
      readonly max: number;
      /** The number that is assumed if the argument is null or missing. @default `max` */
      readonly assumed?: number;
    };

/** The values of `auth` on a field: a boolean, a function that returns `Verdict`, or a gate that requires a user or not. */
export type FieldAuth<P, Parent, Yes, Verdict, Required extends boolean> =
  | Yes
  | ((user: CurrentUser, place: GateArgs<Parent, NoInfer<P>>) => Verdict)
  | Gate<Required, AuthScope, GateArgs<Parent, NoInfer<P>>>;

/**
 * The options of a field. `Yes`, `Verdict` and `Required` are `never` if `auth` is absent, and `Reads` is `never` if `reads`
 * is.
 */
export interface FieldOptions<
  P,
  Parent,
  Yes extends boolean,
  Verdict extends MaybePromise<boolean>,
  Required extends boolean = never,
  Reads extends string = never,
> {
  /** The parameters of the resolver by name: arguments, dependencies, contexts, and objects made by `authorized`. */
  readonly params?: P & CheckSubjects<NoInfer<P>, FieldGiven<GateInput<NoInfer<P>>, any>>;
  /**
   * `true` requires a signed-in user. A function decides for signed-in users and is never called for anonymous callers. A
   * function that takes only the user is called once per operation, one with a second parameter for every object. A gate
   * from `useAuth()`, `every()`, `some()` or `not()` decides as on a route, and a rule about the object that the field
   * belongs to. `false` drops the gate of an inherited field.
   */
  readonly auth?: FieldAuth<P, Parent, Yes, Verdict, Required>;
  /**
   * A field with a gate is nullable in the schema, so that a denial leaves the rest of the response in place. `false`
   * keeps it non-null: a denial then removes the parent object too. @default nullable if it has a gate
   */
  readonly nullable?: false;
  /**
   * How often the field may be called, made by `rateLimit()`. Every call counts, under any alias and for every object,
   * after the gate and before anything else. A call over the limit fails with `RATE_LIMITED`, on that field alone. For
   * a subscription, each start counts. @default no limit
   */
  readonly limit?: RateLimit;
  /**
   * The columns of the parent that the resolver and the gate read. `parent` in the resolver then has only these. A list with
   * `columns: "selected"` reads them if a query selects the field. @default all columns, unless the resolver and the gate
   * use no parent
   */
  readonly reads?: readonly Reads[];
  /** The cost of one selection of this field. @default 1 */
  readonly cost?: number;
  /** The factor for the cost of the selections below this field. @default 1 */
  readonly listSize?: ListSize<Extract<keyof GateInput<NoInfer<P>>, string>>;
  /** The name in the schema. @default the key it is declared under */
  readonly name?: string;
  readonly description?: string;
  readonly deprecationReason?: string;
  /**
   * Every entry must allow access, and so must `auth`, which is checked first. The list is also in the field's
   * `extensions`, unchanged. @default none
   */
  readonly permissionClasses?: readonly (FieldPermission | (new () => FieldPermission))[];
  /** Extensions for other tools, passed to graphql unchanged. */
  readonly extensions?: Readonly<Record<string, unknown>>;
  /** Directives made by `t.directive`, with their arguments. @default none */
  readonly directives?: readonly AppliedDirective[];
}

/** The options of a mutation. */
export interface MutationOptions<
  P,
  Parent,
  Yes extends boolean,
  Verdict extends MaybePromise<boolean>,
  Required extends boolean = never,
  Reads extends string = never,
> extends FieldOptions<P, Parent, Yes, Verdict, Required, Reads> {
  /**
   * The transaction of the work, made by `transaction(database)`. A client may then send `extensions.idempotencyKey`: the work of
   * all requests with one key is done once, and each of them gets the same response. The mutation needs `auth` for signed-in
   * users, and the transaction in `params`. @default a key is rejected
   */
  readonly idempotent?: IdempotentOption;
}

/** The options of a subscription. */
export interface SubscriptionOptions<
  P,
  Parent,
  Yes extends boolean,
  Verdict extends MaybePromise<boolean>,
  Required extends boolean = never,
> extends FieldOptions<P, Parent, Yes, Verdict, Required> {
  /**
   * Runs once for all subscribers with the same document and variables; `ctx.user` and `ctx.request` throw.
   * @default false
   */
  readonly shared?: boolean;
}

/** The options of a subscription to a durable topic. */
export interface TopicSubscriptionOptions<
  P,
  Event,
  Yes extends boolean,
  Verdict extends MaybePromise<boolean>,
  Required extends boolean = never,
> extends FieldOptions<P, undefined, Yes, Verdict, Required> {
  /**
   * Returns the durable topic to follow, for the arguments. Clients can resume: after a lost connection they receive the events
   * that they missed. Each event is resolved as the value that the client receives.
   */
  readonly from: (args: GateInput<NoInfer<P>>, place: { readonly ctx: BaseContext }) => Topic<Event>;
}

/** Whether a field has a gate that requires a user. */
export type IsGated<Yes, Verdict, Required = never> = [Verdict] extends [never]
  ? // For a gate, TypeScript infers `boolean` for `Yes`.
    [Required] extends [never]
    ? IsTrue<Yes>
    : IsTrue<Required>
  : true;
type IsTrue<T> = [T] extends [never] ? false : [T] extends [true] ? true : false;

/** Returns the topic of a subscription, for its arguments. */
export type TopicOf = (args: any, place: { readonly ctx: BaseContext }) => Topic<any>;

/** The options of one field after all checks. */
export interface ResolvedFieldOptions {
  readonly params: Readonly<Record<string, unknown>> | undefined;
  readonly auth: WrittenAuth | undefined;
  readonly nullable: false | undefined;
  readonly limit: RateLimit | undefined;
  readonly reads: readonly string[] | undefined;
  readonly cost: number | undefined;
  readonly listSize: ListSize | undefined;
  readonly name: string | undefined;
  readonly description: string | undefined;
  readonly deprecationReason: string | undefined;
  readonly permissionClasses: readonly unknown[] | undefined;
  readonly extensions: Readonly<Record<string, unknown>> | undefined;
  readonly shared: boolean | undefined;
  readonly from: TopicOf | undefined;
  readonly idempotent: IdempotentOption | undefined;
  readonly directives: readonly AppliedDirective[] | undefined;
}

const OURS = ["cost", "listSize", "permissionClasses", "shared", "idempotent", "from"];

/** Checks the options of a field when it is declared. Throws `ConfigurationError` for an unknown or invalid option. */
export function readFieldOptions(operation: string, options: unknown): ResolvedFieldOptions {
  if (options === undefined) return NOTHING;
  const read = resolveOptions(operation, options, rules);
  if (read.shared !== undefined && operation !== "subscription")
    throw new ConfigurationError(`${operation}.shared`, "is only an option of subscription()");
  if (read.from !== undefined && operation !== "subscription")
    throw new ConfigurationError(`${operation}.from`, "is only an option of subscription()");
  if (read.from !== undefined && read.shared === true)
    throw new ConfigurationError(
      `${operation}.shared`,
      "cannot be combined with from: each client continues from its own position, and rules decide for each caller",
    );
  if (read.idempotent !== undefined && operation !== "mutation")
    throw new ConfigurationError(`${operation}.idempotent`, "is only an option of mutation()");
  if (read.shared === true && read.limit !== undefined)
    throw new ConfigurationError(
      `${operation}.limit`,
      "cannot be combined with shared: a limit counts the calls of each caller, and a shared subscription has no caller",
    );
  const reserved = read.directives === undefined ? OURS : [...OURS, "directives"];
  const taken = reserved.find((name) => Object.hasOwn(read.extensions ?? {}, name));
  if (taken !== undefined)
    throw new ConfigurationError(`${operation}.extensions.${taken}`, `is reserved: use the option ${taken} instead`);
  return read;
}

/** The extensions of a field in the schema: Portico's own keys and those from its options. */
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

const rules = {
  params: objectRule<Readonly<Record<string, unknown>>>("an object of parameters"),
  auth: authRule,
  nullable: optionRule<false>("false", (value) => value === false),
  limit: optionRule<RateLimit>(
    "a limit made by rateLimit()",
    (value) => typeof value === "function" && typeof (value as Partial<RateLimit>).attempt === "function",
  ),
  reads: columnList,
  cost: wholeNumber,
  listSize: optionRule<ListSize>("a whole number, or { argument, max, assumed }", isListSize),
  name: text,
  description: text,
  deprecationReason: text,
  permissionClasses: optionRule<readonly unknown[]>("a list", Array.isArray),
  extensions: objectRule<Readonly<Record<string, unknown>>>("an object"),
  shared: flag,
  from: optionRule<TopicOf>("a function that returns a topic", (value) => typeof value === "function"),
  idempotent: idempotentRule,
  directives: directiveList,
} as const;

const NOTHING: ResolvedFieldOptions = resolveOptions("field", {}, rules);

const isText = (value: unknown): boolean => typeof value === "string";

/** The arguments that set the number of items in a list. */
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
