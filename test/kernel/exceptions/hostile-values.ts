import { GraphQLError } from "graphql";
import { HttpException } from "portico";

const refuse = (): never => {
  throw new TypeError("refused");
};

const trap: ProxyHandler<object> = Object.fromEntries(
  Object.getOwnPropertyNames(Reflect).map((name) => [name, refuse]),
);

function revoked(target: object): object {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

/** An error with a getter that throws, for each of the properties. */
function guarded<E extends object>(error: E, ...names: readonly PropertyKey[]): E {
  for (const name of names) Object.defineProperty(error, name, { get: refuse, configurable: true });
  return error;
}

function circular(): Error {
  const [one, two] = [new Error("one"), new Error("two")];
  one.cause = two;
  two.cause = one;
  return one;
}

function cyclic(): object {
  const value: Record<string, unknown> = {};
  value["self"] = value;
  return value;
}

/** Values that applications can throw, and that throw themselves when they are read or printed in an obvious way. */
export const HOSTILE: readonly (readonly [name: string, make: () => unknown])[] = [
  ["an object without a prototype", () => Object.assign(Object.create(null), { error: "quota" })],
  ["a proxy that throws", () => new Proxy({}, trap)],
  ["a proxy of an error that throws", () => new Proxy(new Error("inside"), trap)],
  ["a revoked proxy", () => revoked({})],
  ["a revoked proxy of an error", () => revoked(new Error("inside"))],
  ["a revoked function", () => revoked(() => {})],
  ["an error whose message throws", () => guarded(new Error("inside"), "message")],
  ["an error whose stack throws", () => guarded(new Error("inside"), "stack")],
  ["an error whose name throws", () => guarded(new Error("inside"), "name")],
  ["an error whose code and status throw", () => guarded(new Error("inside"), "code", "status", "statusCode")],
  ["an error whose cause throws", () => guarded(new Error("inside"), "cause")],
  ["an error whose tag throws", () => guarded(new Error("inside"), Symbol.toStringTag)],
  ["an HTTP exception that throws", () => guarded(new HttpException(404, "inside"), "status", "headers", "members")],
  ["a GraphQL error that throws", () => guarded(new GraphQLError("inside"), "extensions", "path")],
  ["an error without a prototype", () => Object.setPrototypeOf(new Error("inside"), null) as unknown],
  ["an error with a hostile cause", () => new Error("outside", { cause: new Proxy({}, trap) })],
  ["an error with a circle of causes", circular],
  ["an error of hostile errors", () => new AggregateError([revoked({}), guarded(new Error("a"), "message")], "all")],
  ["a frozen error", () => Object.freeze(new Error("inside"))],
  ["an object whose toString returns no string", () => ({ toString: () => ({}), toJSON: refuse })],
  ["an object that refers to itself", cyclic],
  ["a symbol", () => Symbol("inside")],
  ["a function", () => () => "inside"],
  ["a huge string", () => "x".repeat(5_000_000)],
  ["a bigint", () => 2n ** 70n],
  ["undefined", () => undefined],
];
