import type { GraphQLResolveInfo } from "graphql";
import { nearest } from "../../core/resolve-options.ts";
import { sourceParameters } from "../../core/source-parameters.ts";
import type { GateNode } from "../../http/access/gate-node.ts";
import type { RateLimit } from "../../http/limits/rate-limit.ts";
import type { GraphContext } from "../operation/graph-context.ts";
import { isTypeRef } from "../types/arg.ts";
import type { AnyRef, DeclaredField } from "../types/type-node.ts";
import { type DeclaredParams, isAmbient, readDeclaredParams } from "./declared-params.ts";
import type { Operation } from "./field-def.ts";
import { type ResolvedFieldOptions, readFieldOptions, sizeArguments } from "./field-options.ts";
import { readGates } from "./field-question.ts";
import { gateReads, type Reads } from "./reads.ts";
import { ResolverError } from "./resolver-error.ts";

/** A field as `field(type, options)` declares it, before it has a resolver. */
export interface FieldHead {
  readonly operation: Operation;
  readonly type: AnyRef;
  readonly params: DeclaredParams;
  /** All of them must open. */
  readonly gates: readonly GateNode[];
  readonly limits: readonly RateLimit[];
  readonly options: ResolvedFieldOptions;
  /** Returns the value of the field; `null` if it is what the resolver returns. */
  readonly finish: Finish | null;
  /** The type of the items, for a list whose value is another object, such as a connection. */
  readonly items: AnyRef | null;
  /** Checks the field when the schema is built, when all types are declared. */
  readonly check: ((place: string) => void) | null;
  /** The columns of the parent that the field needs itself; `undefined` if they follow from its resolver. */
  readonly parentReads: Reads | undefined;
  /** The columns of the parent that its gates need. */
  readonly gateReads: Reads;
}
/** The parts of a field whose value is another object, such as a connection. */
type HeadParts = Partial<Pick<FieldHead, "finish" | "items" | "check" | "parentReads">>;
/** Called behind the gate. */
export type Finish = (call: FieldCall) => unknown;

/** One call of a field, with the arguments as the resolver receives them. */
export interface FieldCall {
  /** Calls the resolver for this parent. */
  readonly resolve: (parent: unknown) => unknown;
  readonly parent: unknown;
  readonly args: Readonly<Record<string, unknown>>;
  readonly graph: GraphContext;
  readonly info: GraphQLResolveInfo;
}

/** A declared field that has passed all checks. */
export interface FieldDeclaration extends FieldHead, DeclaredField {
  /** `null` if the field exposes the property of its name. */
  readonly resolver: ((args: object) => unknown) | null;
  /**
   * The names that the resolver destructures; `null` if its source does not show them, so that it receives all names.
   */
  readonly keys: ReadonlySet<string> | null;
  /** The class member that was decorated. */
  readonly member: string | null;
}

/** Checks the type and the options of a field. */
export function declareHead(
  operation: Operation,
  type: unknown,
  options: unknown,
  { finish = null, items = null, check = null, parentReads }: HeadParts = {},
): FieldHead {
  if (!isTypeRef(type))
    throw new ResolverError(
      operation,
      "the first argument must be a type. If the type is declared later in the file or in a module that imports this one, pass a thunk: () => Type",
    );
  const read = readFieldOptions(operation, options);
  const params = readDeclaredParams(operation, read.params ?? {});
  const stranger = sizeArguments(read.listSize).find((name) => !params.args.some(({ key }) => key === name));
  if (stranger !== undefined)
    throw new ResolverError(operation, `listSize.argument names ${stranger}, which is not an argument of this field`);
  const gates = readGates(operation, read);
  return {
    operation,
    type,
    params,
    gates,
    limits: read.limit === undefined ? [] : [read.limit],
    options: read,
    finish,
    items,
    check,
    parentReads,
    gateReads: gateReads(gates, read.reads),
  };
}

/** Declares a field with a resolver. `place` names the field as far as it is known: `field`, or `field books`. */
export function declareResolver(
  place: string,
  head: FieldHead,
  resolver: unknown,
  member: string | null,
): FieldDeclaration {
  if (typeof resolver !== "function")
    throw new ResolverError(place, `expects a resolver function, received ${typeof resolver}`);
  const callable = resolver as (args: object) => unknown;
  if (
    head.operation === "subscription" &&
    Object.prototype.toString.call(resolver) !== "[object AsyncGeneratorFunction]"
  )
    throw new ResolverError(
      place,
      "the resolver of a subscription must be an async generator: async function* ({ ... }) { yield ... }",
    );
  return {
    "~kind": "declaration",
    ...head,
    resolver: callable,
    keys: takenNames(place, head.params, callable),
    member,
  };
}

/** Declares a field that exposes the property of its name. */
export function declareProperty(place: string, head: FieldHead, member: string | null): FieldDeclaration {
  if (head.operation === "subscription") throw new ResolverError(place, "a subscription needs a resolver");
  if (head.params.names.size > 0)
    throw new ResolverError(place, "a field without a resolver cannot have params: give it a resolver");
  return { "~kind": "declaration", ...head, resolver: null, keys: null, member };
}

export function isDeclaration(value: unknown): value is FieldDeclaration {
  return typeof value === "object" && value !== null && (value as { "~kind"?: unknown })["~kind"] === "declaration";
}

function takenNames(
  place: string,
  params: DeclaredParams,
  resolver: (args: never) => unknown,
): ReadonlySet<string> | null {
  const parameters = sourceParameters(resolver);
  if (parameters === null) return null;
  if (parameters.some(({ kind }) => kind === "rest"))
    throw new ResolverError(
      place,
      "a resolver must take one object, not (...args): a field has a fixed list of arguments",
    );
  const [first, ...others] = parameters;
  if (others.length > 0) throw new ResolverError(place, "a resolver must take one object, without a second parameter");
  if (first === undefined) return new Set();
  if (first.kind === "other") return null;
  if (first.hasRest)
    throw new ResolverError(
      place,
      "a resolver must name its parameters, without ...rest: a field has a fixed list of arguments",
    );
  for (const key of first.keys) {
    if (params.names.has(key) || isAmbient(key)) continue;
    const declared = params.names.size === 0 ? "" : ` (declared: ${[...params.names].join(", ")})`;
    const near = nearest(key, [...params.names]);
    const advice = near === undefined ? "Add" : `Did you mean ${near}? If not, add`;
    throw new ResolverError(
      place,
      `the parameter ${key} is not declared in params${declared}. ${advice} it with its type, such as { ${key}: t.int }`,
    );
  }
  return new Set(first.keys);
}
