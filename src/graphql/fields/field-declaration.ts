import type { GraphQLResolveInfo } from "graphql";
import { nearest } from "../../core/resolve-options.ts";
import type { GraphContext } from "../operation/graph-context.ts";
import { isTypeRef } from "../types/arg.ts";
import type { AnyRef, DeclaredField } from "../types/type-node.ts";
import { type DeclaredParams, isAmbient, readDeclaredParams } from "./declared-params.ts";
import type { Operation } from "./field-def.ts";
import { type FieldGate, readGates } from "./field-gate.ts";
import { type ResolvedFieldOptions, readFieldOptions, sizeArguments } from "./field-options.ts";
import { ResolverError } from "./resolver-error.ts";
import { sourceParameters } from "./source-parameters.ts";

/** What `field(type, options)` says, before there is a resolver. */
export interface FieldHead {
  readonly operation: Operation;
  readonly type: AnyRef;
  readonly params: DeclaredParams;
  readonly gates: readonly FieldGate[];
  readonly options: ResolvedFieldOptions;
  /** Makes the value of the field out of what the resolver gave, where the two are not the same. */
  readonly finish: Finish | null;
}
/** Called in place of the resolver's own return, behind the gate. */
export type Finish = (given: unknown, call: FieldCall) => unknown;

/** One call of a field; the arguments are as the resolver takes them. */
interface FieldCall {
  readonly parent: unknown;
  readonly args: Readonly<Record<string, unknown>>;
  readonly graph: GraphContext;
  readonly info: GraphQLResolveInfo;
}

/** A field as it was declared, checked. */
export interface FieldDeclaration extends FieldHead, DeclaredField {
  /** `null`: the field is the property of its name. */
  readonly resolver: ((args: object) => unknown) | null;
  /** The names that the resolver takes; `null` when its source does not tell, and it gets them all. */
  readonly keys: ReadonlySet<string> | null;
  /** The member of the class that a decorator stood on. */
  readonly member: string | null;
}

/** Checks what stands before the resolver. */
export function declareHead(
  operation: Operation,
  type: unknown,
  options: unknown,
  finish: Finish | null = null,
): FieldHead {
  if (!isTypeRef(type))
    throw new ResolverError(
      operation,
      "the first argument is no type; when the type is declared further down or in a module that imports this one, give a thunk: () => Type",
    );
  const read = readFieldOptions(operation, options);
  const params = readDeclaredParams(operation, read.params ?? {});
  const stranger = sizeArguments(read.listSize).find((name) => !params.args.some(({ key }) => key === name));
  if (stranger !== undefined)
    throw new ResolverError(operation, `listSize.argument names ${stranger}, which is no argument of this field`);
  return {
    operation,
    type,
    params,
    gates: readGates(operation, read),
    options: read,
    finish,
  };
}

/** A field that a resolver computes. `place` is what is known of where it stands: `field`, or `field books`. */
export function declareResolver(
  place: string,
  head: FieldHead,
  resolver: unknown,
  member: string | null,
): FieldDeclaration {
  if (typeof resolver !== "function") throw new ResolverError(place, `takes a resolver, received ${typeof resolver}`);
  const callable = resolver as (args: object) => unknown;
  if (
    head.operation === "subscription" &&
    Object.prototype.toString.call(resolver) !== "[object AsyncGeneratorFunction]"
  )
    throw new ResolverError(
      place,
      "a subscription's resolver is an async generator: async function* ({ ... }) { yield ... }",
    );
  return {
    "~kind": "declaration",
    ...head,
    resolver: callable,
    keys: takenNames(place, head.params, callable),
    member,
  };
}

/** A field that is the property of its name. */
export function declareProperty(place: string, head: FieldHead, member: string | null): FieldDeclaration {
  if (head.operation === "subscription") throw new ResolverError(place, "a subscription needs a resolver");
  if (head.params.names.size > 0)
    throw new ResolverError(place, "a property takes no parameters: give the field a resolver");
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
    throw new ResolverError(place, "a resolver takes one object, not (...args): a field has a fixed list of arguments");
  const [first, ...others] = parameters;
  if (others.length > 0) throw new ResolverError(place, "a resolver takes one object: there is no second parameter");
  if (first === undefined) return new Set();
  if (first.kind === "other") return null;
  if (first.hasRest)
    throw new ResolverError(
      place,
      "a resolver names what it takes, without ...rest: a field has a fixed list of arguments",
    );
  for (const key of first.keys) {
    if (params.names.has(key) || isAmbient(key)) continue;
    const declared =
      params.names.size === 0
        ? "nothing is"
        : `${[...params.names].join(", ")} ${params.names.size === 1 ? "is" : "are"}`;
    const near = nearest(key, [...params.names]);
    const meant = near === undefined ? "" : `did you mean ${near}? If not, `;
    throw new ResolverError(
      place,
      `the parameter ${key} carries no type: ${declared} declared; ${meant}add it to params, such as { ${key}: t.int }`,
    );
  }
  return new Set(first.keys);
}
