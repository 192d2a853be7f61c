import { ConfigurationError } from "../../core/configuration-error.ts";
import { andThen, type MaybePromise } from "../../core/maybe-promise.ts";
import { anything, optionRule, resolveOptions } from "../../core/resolve-options.ts";
import { type Callable, type Injected, type InjectParams, noteDeclared } from "../../dependencies/depend.ts";
import type { ParamPlan } from "../../dependencies/param-plan.ts";
import { type AnySubject, Denial, type Subject } from "../../dependencies/subject.ts";
import type { AuthorizeOptions } from "../context/decisions.ts";
import type { BaseContext } from "../context/http-context.ts";
import type { AuthScope } from "../identity/identity.ts";
import { refusalOf } from "./authorize.ts";
import type { Gate } from "./gate.ts";
import { allGates, type GateNode } from "./gate-node.ts";
import { readListGate } from "./read-gate.ts";

/** How `authorized` refuses an object. */
export interface AuthorizedOptions<T> extends AuthorizeOptions {
  /**
   * A second rule, for an action on an object that the first rule lets the caller see. A refusal is 403.
   * @default the rule decides alone
   */
  readonly may?: ObjectGate<T>;
}

type ObjectGate<T> = Gate<boolean, AuthScope, { readonly parent: NonNullable<Awaited<NoInfer<T>>> }>;

/** An object as a parameter, made by `authorized`. */
export type AuthorizedObject<T, A, Own = unknown> = Subject<NonNullable<Awaited<T>>, A, Own>;

/** `authorized(load, rule, options)`, or `authorized(params)(load, rule, options)` for a load function with dependencies. */
export interface AuthorizedFunction {
  <T, A>(load: (given: A) => T, rule: ObjectGate<T>, options?: AuthorizedOptions<T>): AuthorizedObject<T, A>;
  <const P extends InjectParams<BaseContext>>(
    params: P,
  ): <T, A>(
    load: (given: A & Injected<P>) => T,
    rule: ObjectGate<T>,
    options?: AuthorizedOptions<T>,
  ) => AuthorizedObject<T, A, Injected<P>>;
}

/**
 * Declares an object that a route, a field or a mutation is about. It is loaded after the gate and the schemas, the rule decides
 * about it, and the handler runs only if the caller may have it. A missing object and a refused one are both 404.
 *
 * The load function receives `path`, `query` and `body` on a route, `args` and `parent` on a field, `ctx`, and its own
 * parameters. One that the handler declares as well, such as a transaction, is shared. `portico audit` lists every object
 * that is declared like this.
 *
 * @example
 * ```ts
 * import { authorized, PorticoApp, rule } from "portico";
 *
 * interface NoteRow { id: string; owner: string }
 * declare function findNote(id: string): Promise<NoteRow | undefined>;
 * const ownNotes = rule<NoteRow>({ name: "note.own", allows: (user, note) => note.owner === user.identity });
 *
 * new PorticoApp().get(
 *   "/notes/:id",
 *   { auth: true, params: { note: authorized(({ path }) => findNote(path.id), ownNotes) } },
 *   ({ note }) => note,
 * );
 * ```
 */
export const authorized: AuthorizedFunction = ((first: unknown, ...rest: readonly unknown[]) => {
  if (typeof first === "function") return subject({}, first, ...rest);
  if (typeof first !== "object" || first === null)
    throw new ConfigurationError("authorized", "given a load function and a rule, or parameters", first);
  return (load: unknown, ...others: readonly unknown[]) => subject(first, load, ...others);
}) as AuthorizedFunction;

const options = {
  status: optionRule<403 | 404>("403 or 404", (value) => value === 403 || value === 404),
  may: anything,
} as const;

function subject(params: object, load: unknown, rule?: unknown, written: unknown = {}): AnySubject {
  if (typeof load !== "function") throw new ConfigurationError("authorized: the load function", "a function", load);
  const node = readListGate("authorized: the rule", rule);
  const read = resolveOptions("authorized", written, options);
  const { status = 404 } = read;
  const may = read.may === undefined ? null : readListGate("authorized.may", read.may);
  const grant = (ctx: BaseContext, object: unknown): MaybePromise<unknown> => {
    // A rule that denies by a member would let all of them through, because a list doesn't have it.
    if (Array.isArray(object))
      throw new TypeError("authorized: the load function returned a list instead of an object");
    return andThen(refusalOf(ctx, node, object, status), (refused) => {
      if (refused !== null) return new Denial(refused);
      if (may === null) return object;
      return andThen(refusalOf(ctx, may, object, 403), (error) => (error === null ? object : new Denial(error)));
    });
  };
  const made: AnySubject = Object.freeze({
    "~kind": "subject",
    "~params": params as AnySubject["~params"],
    "~load": load as AnySubject["~load"],
    "~grant": grant,
  });
  noteDeclared(made["~load"]);
  GATES.set(made, allGates(may === null ? [node] : [node, may]) as GateNode);
  return made;
}

const GATES = new WeakMap<AnySubject, GateNode>();

/** An object that a handler declares, for code that inspects the application. */
export interface DeclaredObject {
  readonly gate: GateNode;
  readonly load: Callable;
}

/** The objects among planned parameters, by their names. */
export function declaredObjects(params: readonly ParamPlan[]): ReadonlyMap<string, DeclaredObject> {
  return new Map(
    params.flatMap(({ name, subject: plan }) => {
      const gate = plan === null ? undefined : GATES.get(plan.subject);
      return plan === null || gate === undefined ? [] : [[name, { gate, load: plan.subject["~load"] }] as const];
    }),
  );
}
