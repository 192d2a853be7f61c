import type { GraphQLResolveInfo } from "graphql";
import type { ContextClass, Dependency, InjectedOf, Reserved } from "../../../dependencies/depend.ts";
import type { AnySubject, Subject } from "../../../dependencies/subject.ts";
import type { BaseContext, HttpContext, WebSocketContext } from "../../../kernel/context/http-context.ts";
import type { CurrentUser } from "../../../kernel/identity/identity.ts";
import type { GraphContext } from "../../operation/graph-context.ts";
import type { Arg, ArgRef, InOf } from "../references/graph-type.ts";
import type { Info } from "./info.ts";

/** The values that the load function of `authorized` receives on a field. */
export interface FieldGiven<Input = unknown, Parent = unknown> {
  readonly args: Input;
  readonly parent: Parent;
  readonly ctx: BaseContext;
  readonly context: BaseContext;
}
/** A parameter that is injected and does not appear in the schema. */
export type InjectedParam =
  | ContextClass<BaseContext | GraphContext>
  | Dependency<any>
  | Subject<any, FieldGiven>
  | AnySubject
  | typeof Info;
/** The declaration of a parameter: injected, or the type of an argument. */
export type Param = InjectedParam | ArgRef | Arg<any>;
/**
 * The declared parameters. `parent`, `root` and `self` are reserved for the parent object; `ctx: t.string` is an
 * argument.
 */
export type Params = { readonly [name: string]: Param } & Reserved<
  "parent" | "root" | "self",
  "this name is reserved for the parent object: choose another one"
>;

/** The type of a context behind a gate: its user is signed in. */
export type SignedIn<C> = C extends HttpContext
  ? HttpContext<CurrentUser>
  : C extends WebSocketContext
    ? WebSocketContext<CurrentUser>
    : C extends BaseContext
      ? BaseContext<CurrentUser>
      : C;

/** The names that every resolver can destructure without declaring them. */
export interface Ambient<Parent, Gated> {
  readonly ctx: Gated extends true ? BaseContext<CurrentUser> : BaseContext;
  readonly context: Gated extends true ? BaseContext<CurrentUser> : BaseContext;
  readonly parent: Parent;
  readonly root: Parent;
  readonly self: Parent;
  readonly info: GraphQLResolveInfo;
}

/** The type of one declared parameter in the resolver. */
export type ParamOf<P, Gated> =
  P extends Dependency<any>
    ? InjectedOf<P>
    : P extends Subject<infer T, any>
      ? T
      : P extends typeof Info
        ? GraphQLResolveInfo
        : P extends ContextClass<infer C>
          ? Gated extends true
            ? SignedIn<C>
            : C
          : InOf<P>;
/** The types of the declared parameters in the resolver. */
export type Declared<P, Gated> = { readonly [K in keyof P]: ParamOf<P[K], Gated> };
/** The ambient names that are not declared as something else. */
export type Undeclared<P, Parent, Gated> =
  Extract<keyof P, keyof Ambient<any, any>> extends never
    ? Ambient<Parent, Gated>
    : Omit<Ambient<Parent, Gated>, keyof P>;

/**
 * The object that a resolver receives. The wrapper form infers it. Annotate a decorated method with it, because
 * TypeScript cannot infer its parameters. With `Gated`, the field has a gate and `ctx.user` is a signed-in user.
 *
 * @example
 * ```ts
 * import { type Args, field, t } from "portico/graphql";
 *
 * const params = { to: t.int(3) };
 * export const count = ({ to }: Args<typeof params>): number[] => Array.from({ length: to }, (_, n) => n);
 *
 * export const query = { count: field(t.list(t.int), { params })(count) };
 * ```
 */
export type Args<P = {}, Parent = unknown, Gated = false> = Declared<P, Gated> & Undeclared<P, Parent, Gated>;
/**
 * The object that the wrapper form passes to a resolver. TypeScript creates rest types only from objects: the
 * intersection with `true` makes `...rest` in the destructuring a compile-time error.
 */
export type ResolverArgs<P, Parent, Gated> = Args<P, Parent, Gated> & true;
/** The object that a unit test passes to `resolve`, where the ambient names may be omitted. */
export type TestArgs<P, Parent = unknown, Gated = false> = Declared<P, Gated> & Partial<Undeclared<P, Parent, Gated>>;
