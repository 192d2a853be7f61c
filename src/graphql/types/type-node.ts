import type { GraphQLScalarType } from "graphql";
import type { GateNode } from "../../http/access/gate-node.ts";
import type { Class, GraphType } from "./graph-type.ts";

/** A reference to a type, as it was written: the type, a class, or a thunk. */
export type AnyRef = GraphType<unknown, unknown> | Class | (() => GraphType<unknown, unknown> | Class);

/** The declaration of a type, from which `schema()` builds it. */
export type TypeNode = NamedNode | WrapperNode | RefNode;
export type NamedNode = ScalarNode | EnumNode | InputNode | ObjectNode | InterfaceNode | UnionNode;

interface ScalarNode {
  readonly kind: "scalar";
  readonly name: string;
  readonly type: GraphQLScalarType;
}

export interface EnumNode {
  readonly kind: "enum";
  readonly name: string;
  readonly description: string | undefined;
  readonly values: Readonly<Record<string, EnumValueNode>>;
}
export interface EnumValueNode {
  readonly description: string | undefined;
  readonly deprecationReason: string | undefined;
}

export interface InputNode {
  readonly kind: "input";
  readonly name: string;
  readonly description: string | undefined;
  readonly isOneOf: boolean;
  readonly fields: readonly (readonly [name: string, arg: ArgNode])[];
}
export interface ArgNode {
  readonly type: AnyRef;
  /** `undefined` if the argument has no default. */
  readonly default: unknown;
  readonly name: string | undefined;
  readonly description: string | undefined;
  readonly deprecationReason: string | undefined;
}

/** A field that was declared with `field()`. Only `fields/` knows the other members. */
export interface DeclaredField {
  readonly "~kind": "declaration";
}
/** A field of an object: a plain type exposes the property of that name. */
export type MemberNode = AnyRef | DeclaredField;

export interface ObjectNode {
  readonly kind: "object";
  readonly name: string;
  readonly description: string | undefined;
  readonly fields: Readonly<Record<string, MemberNode>>;
  readonly interfaces: readonly AnyRef[];
  /** Decides about every object of the type. */
  readonly gate: GateNode | null;
  /** The class whose decorated members are fields too, and whose instances are values of this type. */
  readonly model: Class | null;
}
export interface InterfaceNode {
  readonly kind: "interface";
  readonly name: string;
  readonly description: string | undefined;
  readonly fields: Readonly<Record<string, MemberNode>>;
  readonly interfaces: readonly AnyRef[];
  /** Decides about every object that implements it. */
  readonly gate: GateNode | null;
  readonly resolveType: TypeResolver | null;
}
export interface UnionNode {
  readonly kind: "union";
  readonly name: string;
  readonly description: string | undefined;
  readonly types: readonly AnyRef[];
  readonly resolveType: TypeResolver | null;
}
/** Returns the name of a value's object type. */
type TypeResolver = (value: never) => string;

export type WrapperNode = Wrapper<"list"> | Wrapper<"nullable"> | Wrapper<"optional">;
export interface Wrapper<K> {
  readonly kind: K;
  readonly of: AnyRef;
}
/** A reference to a type by its name. */
interface RefNode {
  readonly kind: "ref";
  readonly name: string;
}

/** Whether this is a Portico type. A scalar or an enum is a function as well. */
export function isGraphType(value: unknown): value is GraphType<unknown, unknown> {
  return ((typeof value === "object" && value !== null) || typeof value === "function") && "~node" in value;
}
