import { ConfigurationError } from "../../core/configuration-error.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import { callable, columnList, flag, optional, resolveOptions, text } from "../../core/resolve-options.ts";
import type { Condition } from "../../pagination/conditions/condition.ts";
import type { BaseContext } from "../context/http-context.ts";
import type { AuthScope, Caller, CurrentUser } from "../identity/identity.ts";
import type { Gate } from "./gate.ts";
import type { RuleParts } from "./gate-node.ts";
import { gateOf } from "./gate-of.ts";

/** The options of a rule. */
export interface RuleOptions<Row, User, Anonymous extends boolean> {
  /** Names the rule in logs and in the OpenAPI document. The cursors of a list are bound to it. */
  readonly name: string;
  /**
   * Whom the rule lets in, for people who review the application: `"members of the project's organisation"`. `portico audit`,
   * `portico why` and the access table print it. @default only the name is printed
   */
  readonly says?: string;
  /** Decides whether the user may see the object, sync or async. Only `true` allows it. */
  allows(user: User, object: Row, place: { readonly ctx: BaseContext<User> }): MaybePromise<boolean>;
  /** Returns the rule as a condition on the columns of a list. A list of database rows needs it. */
  where?(user: User): Condition<Extract<keyof Row, string>>;
  /**
   * The columns of the object that `allows` reads. A connection with `columns: "selected"` then reads only these for the
   * rule. @default all columns
   */
  readonly reads?: readonly Extract<keyof Row, string>[];
  /** Whether the rule is also asked for anonymous callers. Otherwise it refuses them. @default false */
  readonly anonymous?: Anonymous;
}

/** A rule about objects of one kind, made by `rule()`. */
export interface Rule<in Row, out Required extends boolean = boolean>
  extends Gate<Required, AuthScope, { readonly parent: Row }>,
    RuleParts {
  readonly allows: (
    user: Required extends true ? CurrentUser : Caller,
    object: Row,
    place: { readonly ctx: BaseContext<any> },
  ) => MaybePromise<boolean>;
}

/**
 * A rule about objects, written once: on an object type it holds wherever such an object appears, `ctx.authorize` asks it in a
 * handler, and a list applies its `where`.
 *
 * @example
 * ```ts
 * import { isIn, rule } from "portico";
 *
 * interface ProjectRow { id: string; organisation_id: string; name: string }
 * declare function organisationsOf(user: { identity: string }): string[];
 *
 * export const visibleProjects = rule<ProjectRow>({
 *   name: "project.visible",
 *   allows: (user, project) => organisationsOf(user).includes(project.organisation_id),
 *   where: (user) => isIn("organisation_id", organisationsOf(user)),
 * });
 * ```
 */
export function rule<Row>(options: RuleOptions<Row, CurrentUser, false>): Rule<Row, true>;
export function rule<Row>(options: RuleOptions<Row, Caller, true>): Rule<Row, false>;
export function rule(options: RuleOptions<any, any, boolean>): Rule<any, any> {
  const read = resolveOptions("rule", options, rules);
  const { name, says = null, allows, where = null, reads = null, anonymous } = read;
  if (name === undefined) throw new ConfigurationError("rule.name", "a non-empty string", name);
  if (allows === undefined) throw new ConfigurationError(`rule ${name}: allows`, "a function", allows);
  const parts: RuleParts = { name, says, anonymous, allows, where, reads };
  return Object.freeze({ ...gateOf({ kind: "rule", rule: parts }), ...parts }) as Rule<any, any>;
}

const rules = {
  name: text,
  says: text,
  allows: callable,
  where: callable,
  reads: columnList,
  anonymous: optional(flag, false),
} as const;
