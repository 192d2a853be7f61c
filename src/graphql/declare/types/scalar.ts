import { GraphQLScalarType, valueFromASTUntyped } from "graphql";
import { ConfigurationError } from "../../../core/configuration-error.ts";
import { callable, resolveOptions, text } from "../../../core/resolve-options.ts";
import { isSchema, type Schema, type SchemaOutput } from "../../../http/routing/schema.ts";
import { arg } from "../references/arg.ts";
import type { Arg, GraphType } from "../references/graph-type.ts";
import type { AppliedDirective } from "../references/type-node.ts";
import { checkName, type TypeOptions, typeRules } from "../references/type-options.ts";
import { type Accepting, type ValidatedType, validated } from "../references/validated-type.ts";
import { isKeeping, noteLossless } from "./is-lossless.ts";

/**
 * A scalar type. Call it with a value to declare an argument with that default: `t.int(10)`. Call it with a Standard Schema
 * to validate the values that clients send: `t.string(z.email())`, or `t.string(z.email(), "a@example.com")` with a default.
 * Arguments are of type `T`, and results may be of type `Out`.
 */
export interface Scalar<T, out Out = T> extends GraphType<Out, T, "scalar"> {
  <S extends Schema>(schema: S & Accepting<S, T>): ValidatedType<T, SchemaOutput<S, never>>;
  <S extends Schema>(schema: S & Accepting<S, T>, defaultValue: T): Arg<SchemaOutput<S, never>>;
  (defaultValue: T): Arg<T>;
}

/** The options of a custom scalar. */
export interface ScalarOptions<T> extends TypeOptions {
  /** The URL of the format's specification. */
  readonly specifiedByUrl?: string;
  /**
   * Converts a value to JSON. Its errors concern values of the application, so they are logged and not sent to clients.
   */
  serialize(value: T): unknown;
  /** Converts the JSON value that a client sent. The messages of its errors are sent to the client. */
  parse(value: unknown): T;
}

/**
 * Declares a custom scalar.
 *
 * @example
 * ```ts
 * import { field, t } from "portico/graphql";
 *
 * const Money = t.scalar<bigint>("Money", { serialize: String, parse: (value) => BigInt(String(value)) });
 *
 * export const doubled = field(Money, { params: { price: Money } })(({ price }) => price * 2n);
 * ```
 */
export function scalar<T>(name: string, options: ScalarOptions<T>): Scalar<T> {
  const place = "t.scalar";
  checkName(place, name);
  const { description, directives, specifiedByUrl, serialize, parse } = resolveOptions(
    `${place} ${name}`,
    options,
    rules,
  );
  if (serialize === undefined || parse === undefined)
    throw new ConfigurationError(`${place} ${name}`, "needs both serialize and parse");
  const type = new GraphQLScalarType({
    name,
    description,
    specifiedByURL: specifiedByUrl,
    serialize: (value) => serialized(name, serialize, value),
    parseValue: parse,
    parseLiteral: (node, variables) => parse(valueFromASTUntyped(node, variables)),
  });
  return scalarOf(isKeeping(serialize) ? noteLossless(type) : type, directives);
}

/** Throws a plain error, which is masked, with the kind of the value only: the value itself may be a secret. */
function serialized(name: string, serialize: (value: never) => unknown, value: unknown): unknown {
  try {
    return serialize(value as never);
  } catch (cause) {
    throw new TypeError(`${name} cannot represent the value that the resolver returned: ${valueKind(value)}`, {
      cause,
    });
  }
}

function valueKind(value: unknown): string {
  if (value === null) return "null";
  if (typeof value !== "object") return `a ${typeof value}`;
  if (value instanceof Date && Number.isNaN(value.getTime())) return "an invalid Date";
  return `an object (${(value.constructor as { name?: string } | undefined)?.name ?? "no class"})`;
}

/** Wraps a scalar of graphql. */
export function scalarOf<T, Out = T>(
  type: GraphQLScalarType,
  directives: readonly AppliedDirective[] = [],
): Scalar<T, Out> {
  const call = (given: unknown, defaultValue?: T): Arg<T> | ValidatedType<T, unknown> => {
    if (!isSchema(given)) return arg(self, { default: given as never });
    const checked = validated<T>(self, given);
    return defaultValue === undefined ? checked : (arg(checked, { default: defaultValue }) as Arg<T>);
  };
  const self = Object.assign(call, {
    "~kind": "scalar" as const,
    "~node": { kind: "scalar" as const, name: type.name, type, directives },
  }) as Scalar<T, Out>;
  return self;
}

const rules = { ...typeRules, specifiedByUrl: text, serialize: callable, parse: callable } as const;
