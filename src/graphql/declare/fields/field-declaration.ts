import type { GraphQLResolveInfo } from "graphql";
import type { ParamPlan } from "../../../dependencies/param-plan.ts";
import type { GateNode } from "../../../kernel/access/gate-node.ts";
import type { Idempotent } from "../../../kernel/idempotency/idempotent.ts";
import type { RateLimit } from "../../../kernel/limits/rate-limit.ts";
import type { GraphContext } from "../../operation/graph-context.ts";
import type { AnyRef, ArgNode, DeclaredField } from "../references/type-node.ts";
import type { ResolvedFieldOptions } from "./field-options.ts";

/** The function that declares a field. Fields of the query type and of objects are declared with `field`. */
export type Operation = "field" | "mutation" | "subscription";

/** The columns of an object that a field needs; `null` if they are unknown, so that it needs all of them. */
export type Reads = readonly string[] | null;

/** The declared parameters of a field, grouped by the source of their values. */
export interface DeclaredParams {
  readonly names: ReadonlySet<string>;
  readonly args: readonly DeclaredArg[];
  /** Dependencies and contexts of the connection, in the order of their declaration. */
  readonly injected: readonly ParamPlan[];
  readonly graph: readonly string[];
  readonly info: readonly string[];
}
/** One argument among them. */
export interface DeclaredArg extends ArgNode {
  /** The name in the resolver; `name`, if set, is the name in the schema. */
  readonly key: string;
}

/** A field as `field(type, options)` declares it, before it has a resolver. */
export interface FieldHead {
  readonly operation: Operation;
  readonly type: AnyRef;
  readonly params: DeclaredParams;
  /** All of them must open. */
  readonly gates: readonly GateNode[];
  readonly limits: readonly RateLimit[];
  /** How requests with an idempotency key are answered once; `null` if the field accepts none. */
  readonly idempotent: Idempotent | null;
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
/** Called behind the gate. */
export type Finish = (call: FieldCall) => unknown;

/** One call of a field, with the arguments as the resolver receives them. */
export interface FieldCall {
  /** Calls the resolver for this parent, in this operation or another one. */
  readonly resolve: (parent: unknown, graph?: GraphContext) => unknown;
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

export function isDeclaration(value: unknown): value is FieldDeclaration {
  return typeof value === "object" && value !== null && (value as { "~kind"?: unknown })["~kind"] === "declaration";
}
