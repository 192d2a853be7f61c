import type { GraphQLScalarType } from "graphql";
import type { Class, GraphType } from "./graph-type.ts";

/** A type where one is wanted, as it was written: itself, a class, or a thunk. */
export type AnyRef = GraphType<unknown, unknown> | Class | (() => GraphType<unknown, unknown> | Class);

/** What a type is made of: what `schema()` reads. */
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
  /** `undefined` when there is none. */
  readonly default: unknown;
  readonly name: string | undefined;
  readonly description: string | undefined;
  readonly deprecationReason: string | undefined;
}

/** A field that was declared with `field()`. Only `fields/` knows what a declaration holds. */
export interface DeclaredField {
  readonly "~kind": "declaration";
}
/** A field of an object: a type alone is the property of that name. */
export type MemberNode = AnyRef | DeclaredField;

export interface ObjectNode {
  readonly kind: "object";
  readonly name: string;
  readonly description: string | undefined;
  readonly fields: Readonly<Record<string, MemberNode>>;
  readonly interfaces: readonly AnyRef[];
  /** The class whose decorated members are fields too, and whose instances are of this type. */
  readonly model: Class | null;
}
export interface InterfaceNode {
  readonly kind: "interface";
  readonly name: string;
  readonly description: string | undefined;
  readonly fields: Readonly<Record<string, MemberNode>>;
  readonly interfaces: readonly AnyRef[];
  readonly resolveType: TypeResolver | null;
}
export interface UnionNode {
  readonly kind: "union";
  readonly name: string;
  readonly description: string | undefined;
  readonly types: readonly AnyRef[];
  readonly resolveType: TypeResolver | null;
}
/** The name of the type that a value is of. */
type TypeResolver = (value: never) => string;

export type WrapperNode = Wrapper<"list"> | Wrapper<"nullable"> | Wrapper<"optional">;
export interface Wrapper<K> {
  readonly kind: K;
  readonly of: AnyRef;
}
/** A type by its name. */
interface RefNode {
  readonly kind: "ref";
  readonly name: string;
}

/** Whether this is a type of ours; a scalar or an enum is a function as well. */
export function isGraphType(value: unknown): value is GraphType<unknown, unknown> {
  return ((typeof value === "object" && value !== null) || typeof value === "function") && "~node" in value;
}
