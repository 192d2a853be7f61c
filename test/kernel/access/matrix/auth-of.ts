import { type BaseContext, every, isEqual, not, rule, ServiceUnavailable, some } from "portico";
import { AuthenticationFailed, PermissionDenied, useAuth } from "portico/auth";
import type { Decision, Form } from "./forms.ts";

/** The message of gates that fail. No client may ever read it. */
export const FAULT = "the fault of a gate, which is not for clients";

interface User {
  hasPermission(permission: string): boolean;
}

/** Makes the value of the option `auth`. */
export function authOf(form: Form): never {
  return valueOf(form) as never;
}

function valueOf(form: Form): unknown {
  switch (form.kind) {
    case "true":
      return true;
    case "false":
      return false;
    case "useAuth": {
      const { kind: _kind, ...options } = form;
      return useAuth(options);
    }
    case "function":
      return functionOf(form);
    case "rule":
      return ruleOf(form);
    case "own":
      return {
        ...(form.isCopy ? useAuth() : { required: true, scopes: [] }),
        check(ctx: BaseContext) {
          void useAuth().check(ctx);
          if (!decide(form.does, ctx.user, undefined)) throw new PermissionDenied();
        },
      };
    case "every":
      return every(...(form.of.map(authOf) as unknown as [true]));
    case "some":
      return some(...(form.of.map(authOf) as unknown as [true]));
    case "not":
      return not(authOf(form.of) as true);
  }
}

function functionOf({ takesPlace, isAsync, does }: Form & { readonly kind: "function" }): unknown {
  if (!takesPlace)
    return isAsync
      ? async (user: User) => decide(does, user, undefined)
      : (user: User) => decide(does, user, undefined);
  return isAsync
    ? async (user: User, place: object) => decide(does, user, ownerIn(place))
    : (user: User, place: object) => decide(does, user, ownerIn(place));
}

let made = 0;

function ruleOf({ isAsync, does, anonymous, where }: Form & { readonly kind: "rule" }): unknown {
  const allows = isAsync
    ? async (user: User, { owner }: Row) => decide(does, user, owner)
    : (user: User, { owner }: Row) => decide(does, user, owner);
  return rule({
    name: `matrix.${++made}`,
    allows: allows as never,
    ...(where === true ? { where: () => isEqual("owner", "mine") as never } : {}),
    ...(anonymous === true ? { anonymous: true } : {}),
  } as never);
}

interface Row {
  readonly owner: string;
}

function decide(does: Decision, user: User, owner: unknown): boolean {
  switch (does) {
    case "allows":
      return true;
    case "refuses":
      return false;
    case "by permission":
      return user.hasPermission("read");
    case "by owner":
      return owner === "mine";
    case "returns text":
      return "true" as never;
    case "fails on theirs":
      if (owner === "mine") return true;
      throw new Error(FAULT);
    case "fails":
      throw new Error(FAULT);
    case "throws 401":
      throw new AuthenticationFailed();
    case "throws 403":
      throw new PermissionDenied();
    case "throws 503":
      throw new ServiceUnavailable("Try again later");
  }
}

interface AnyPlace {
  readonly parent?: Partial<Row>;
  readonly args?: Partial<Row>;
  readonly path?: Partial<Row>;
  readonly request?: { readonly headers: Readonly<Record<string, string>> };
}

/** The owner of what a place guards: an object, an argument, a parameter of the path, or a header. */
function ownerIn({ parent, args, path, request }: AnyPlace): unknown {
  return parent?.owner ?? args?.owner ?? path?.owner ?? request?.headers["x-owner"];
}
