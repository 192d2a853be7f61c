import { didYouMean } from "../../../core/advice/did-you-mean.ts";
import { ConfigurationError } from "../../../core/configuration-error.ts";
import { sourceParameters } from "../../../core/source-parameters.ts";
import { allGates, type GateNode, isRequired } from "../../../kernel/access/gate-node.ts";
import { type Idempotent, readIdempotent } from "../../../kernel/idempotency/idempotent.ts";
import { isTypeRef } from "../references/arg.ts";
import { ResolverError } from "../references/resolver-error.ts";
import type { DeclaredParams, FieldDeclaration, FieldHead, Operation } from "./field-declaration.ts";
import { type ResolvedFieldOptions, readFieldOptions, sizeArguments } from "./field-options.ts";
import { readGates } from "./field-question.ts";
import { followTopic } from "./follow-topic.ts";
import { isAmbient, readDeclaredParams } from "./read-declared-params.ts";
import { gateReads } from "./reads-of.ts";

/** The parts of a field whose value is another object, such as a connection. */
type HeadParts = Partial<Pick<FieldHead, "finish" | "items" | "check" | "parentReads">>;

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
  if (read.from !== undefined && params.names.has("event"))
    throw new ResolverError(operation, "the name event is reserved for the event of the topic: choose another one");
  const gates = readGates(operation, read);
  return {
    operation,
    type,
    params,
    gates,
    limits: read.limit === undefined ? [] : [read.limit],
    idempotent: readIdempotency(operation, read, params, gates),
    options: read,
    finish: read.from === undefined ? finish : followTopic(read.from),
    items,
    check,
    parentReads,
    gateReads: gateReads(gates, read.reads),
  };
}

function readIdempotency(
  operation: Operation,
  { idempotent }: ResolvedFieldOptions,
  { injected }: DeclaredParams,
  gates: readonly GateNode[],
): Idempotent | null {
  if (idempotent === undefined) return null;
  const gate = allGates(gates);
  if (gate === null || !isRequired(gate))
    throw new ConfigurationError(
      `${operation}.idempotent`,
      "requires auth for signed-in users: keys belong to a caller, and anonymous callers would share them",
    );
  return readIdempotent(`${operation}.idempotent`, idempotent, injected, true);
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
    head.options.from === undefined &&
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
    keys: takenNames(place, head, callable),
    member,
  };
}

/** Declares a field that exposes the property of its name. */
export function declareProperty(place: string, head: FieldHead, member: string | null): FieldDeclaration {
  if (head.options.from !== undefined) return declareResolver(place, head, theEvent, null);
  if (head.operation === "subscription") throw new ResolverError(place, "a subscription needs a resolver");
  if (head.params.names.size > 0)
    throw new ResolverError(place, "a field without a resolver cannot have params: give it a resolver");
  return { "~kind": "declaration", ...head, resolver: null, keys: null, member };
}

/** The resolver of a subscription to a topic whose events are the values. */
function theEvent({ event }: { readonly event: unknown }): unknown {
  return event;
}

function takenNames(
  place: string,
  { params, options }: FieldHead,
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
    if (key === "event" && options.from !== undefined) continue;
    const declared = params.names.size === 0 ? "" : ` (declared: ${[...params.names].join(", ")})`;
    const hint = didYouMean(key, [...params.names]);
    const advice = hint === null ? "Add" : `${hint} If not, add`;
    throw new ResolverError(
      place,
      `the parameter ${key} is not declared in params${declared}. ${advice} it with its type, such as { ${key}: t.int }`,
    );
  }
  return new Set(first.keys);
}
