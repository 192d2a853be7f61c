import {
  type BaseContext,
  type Condition,
  currentContext,
  every,
  type Gate,
  isEqual,
  isIn,
  not,
  type RoutePlace,
  rule,
  some,
  type UserProtocol,
} from "portico";
import { PermissionDenied, SimpleUser, useAuth } from "portico/auth";

/** A user with a fact and a method, as applications have. */
export class Member extends SimpleUser {
  readonly plan: string;

  constructor(name: string, permissions: readonly string[], plan: string) {
    super(name, permissions);
    this.plan = plan;
  }
  isEditor(): boolean {
    return this.hasPermission("a") || this.plan === "pro";
  }
  get hasPlan(): boolean {
    return this.plan !== "";
  }
}

/** The object, the arguments or the path that a gate decides about. */
export interface Thing {
  readonly owner: string;
  readonly shared?: string;
}

export const PERMISSIONS = ["a", "b", "c"] as const;
export const SCOPES = ["session", "jwt", "apikey", "badge"] as const;
export const NAMES = ["ann", "ben", "eve"] as const;

/** Draws numbers from 0 up to a bound. */
export type Draw = (bound: number) => number;

export const pick = <T>(draw: Draw, from: readonly T[]): T => from[draw(from.length)] as T;

/** The ways in which a gate may look at a thing. */
const looks: readonly ((thing: Thing, user: UserProtocol) => boolean)[] = [
  (thing, user) => thing.owner === user.identity,
  (thing, user) => thing.owner !== user.identity,
  (thing) => "shared" in thing,
  (thing) => Object.keys(thing).includes("shared"),
  (thing) => Object.hasOwn(thing, "shared"),
  (thing) => ({ ...thing }).shared === "yes",
  (thing) => Object.entries(thing).length > 1,
  (thing) => JSON.stringify(thing).includes("yes"),
  (thing) => Object.getOwnPropertyDescriptor(thing, "shared") !== undefined,
  (thing) => Reflect.has(thing, "shared"),
  (thing) => Object.getPrototypeOf(thing) === Object.prototype,
  (thing) => !Object.isFrozen(thing),
  (thing) => thing === undefined,
  (thing) => typeof thing === "object",
  (thing) => {
    for (const key in thing) if (key === "shared") return true;
    return false;
  },
  (thing, user) => user.hasPermission("b") || thing.owner === user.identity,
  (thing, user) => thing.owner === user.identity || user.hasPermission("c"),
  (_thing, user) => user.hasPermission("a"),
  () => true,
  () => false,
];

/** The ways in which a gate may look at the user. */
const asks: readonly ((user: UserProtocol) => boolean)[] = [
  (user) => user.hasPermission("a"),
  (user) => user.hasPermission("a") && user.hasPermission("b"),
  (user) => !user.hasPermission("c"),
  (user) => (user.hasPermission("a") ? user.hasPermission("b") : user.hasPermission("c")),
  (user) => user.identity === "ann",
  (user) => user.displayName !== "ben",
  (user) => (user as Member).plan === "pro",
  (user) => "plan" in user,
  (user) => Object.keys(user).includes("plan"),
  (user) => Object.entries(user).some(([name, value]) => name === "plan" && value === "pro"),
  (user) => (user as Member).isEditor(),
  (user) => (user as Member).hasPlan,
  (user) => user instanceof Member,
  (user) => user.constructor === Member,
  () => currentContext()?.user.hasPermission("b") === true,
  () => currentContext()?.kind === "http",
  () => currentContext() === null,
  () => true,
  () => false,
  () => {
    throw new Error("a planted fault");
  },
];

/** The ways in which a check of the application may look at the context. */
const checks: readonly ((ctx: BaseContext) => boolean)[] = [
  ({ request }) => request.headers["x-office"] === "yes",
  ({ scope }) => scope.auth === "jwt",
  ({ scope }) => scope.credential?.level === "mfa",
  ({ scope }) => scope.credential?.claims?.["role"] === "staff",
  ({ scope }) => "credential" in scope,
  ({ user }) => user.hasPermission("b"),
  (ctx) => ctx.impersonator === null,
  (ctx) => "socket" in ctx,
  (ctx) => ctx.state.size === 0,
  () => true,
];

function useAuthOf(draw: Draw): Gate {
  return useAuth({
    ...(draw(2) === 0 ? {} : { scopes: SCOPES.filter(() => draw(2) === 0) as never }),
    ...(draw(2) === 0 ? {} : { permissions: [pick(draw, PERMISSIONS)] }),
    ...(draw(3) > 0 ? {} : { required: false }),
    ...(draw(4) > 0 ? {} : { freshSeconds: 1_800 }),
    ...(draw(4) > 0 ? {} : { level: "mfa" as const }),
  });
}

function checkOf(draw: Draw): Gate {
  const decide = pick(draw, checks);
  return {
    required: draw(2) === 0,
    needsIdentity: false,
    scopes: [],
    check(ctx) {
      if (!decide(ctx)) throw new PermissionDenied();
    },
  };
}

/** A gate of a place without an object. It is a value of `auth`. */
export function randomGate(draw: Draw, depth = 2): unknown {
  const kind = draw(depth === 0 ? 6 : 11);
  if (kind === 0) return true;
  if (kind <= 2) return useAuthOf(draw);
  if (kind === 3) return checkOf(draw);
  if (kind === 4) {
    const ask = pick(draw, asks);
    return draw(2) === 0 ? (user: UserProtocol) => ask(user) : async (user: UserProtocol) => ask(user);
  }
  if (kind === 5) return placeGate(draw);
  const part = (): never => randomGate(draw, depth - 1) as never;
  if (kind <= 7) return every(part(), part());
  return kind <= 9 ? some(part(), part()) : not(part());
}

/** A route passes `path`, and a field `args`. */
type AnyPlace = Partial<RoutePlace> & { readonly args?: Thing };

function placeGate(draw: Draw): unknown {
  const look = pick(draw, looks);
  switch (draw(4)) {
    case 0:
      return (user: UserProtocol, place: AnyPlace) =>
        "args" in place ? look(place.args ?? ({} as Thing), user) : look(place.path as never, user);
    case 1:
      return (user: UserProtocol, { request }: AnyPlace) =>
        request?.headers["x-office"] === "yes" || look({} as Thing, user);
    case 2:
      return (_user: UserProtocol, { ctx }: AnyPlace) => ctx?.user.hasPermission("c") === true || ctx?.kind === "http";
    default:
      return (user: UserProtocol, { path, args }: AnyPlace) => look((args ?? path) as Thing, user);
  }
}

let made = 0;

/** A rule about a thing, alone or in a combination. */
export function randomRule(draw: Draw): unknown {
  const of = (): true => ruleOf(draw) as true;
  const gate = (): never => randomGate(draw, 1) as never;
  switch (draw(5)) {
    case 0:
      return every(gate(), of());
    case 1:
      return some(of(), gate());
    case 2:
      return every(true, not(of()));
    default:
      return of();
  }
}

const EVERYTHING: Condition<"owner"> = not(isIn("owner", []));

/** The two halves of each of these say the same. */
const halves = [
  {
    allows: (user: UserProtocol, thing: Thing) => thing.owner === user.identity,
    where: (user: UserProtocol) => isEqual("owner", user.identity),
  },
  {
    allows: (_user: UserProtocol, thing: Thing) => thing.shared === "yes",
    where: () => isEqual("shared", "yes"),
  },
  {
    allows: (user: UserProtocol, thing: Thing) => user.hasPermission("a") || thing.owner === user.identity,
    where: (user: UserProtocol) => (user.hasPermission("a") ? EVERYTHING : isEqual("owner", user.identity)),
  },
  {
    allows: (user: UserProtocol, thing: Thing) => user.identity === "ann" && thing.owner === "ann",
    where: (user: UserProtocol) => isIn("owner", user.identity === "ann" ? ["ann"] : []),
  },
  {
    allows: (user: UserProtocol, thing: Thing) => (user as Member).plan === "pro" && thing.owner === "ann",
    where: (user: UserProtocol) => isIn("owner", (user as Member).plan === "pro" ? ["ann"] : []),
  },
] as const;

function ruleOf(draw: Draw): unknown {
  const name = `random.${++made}`;
  const anonymous = draw(4) === 0 ? { anonymous: true } : {};
  if (draw(2) === 0) return rule({ name, ...pick(draw, halves), ...anonymous } as never);
  const look = pick(draw, looks);
  const allows = (user: UserProtocol, thing: Thing): boolean => look(thing, user);
  return rule({ name, allows, ...anonymous } as never);
}
