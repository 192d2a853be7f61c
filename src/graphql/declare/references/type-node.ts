import type { DirectiveLocation, GraphQLScalarType } from "graphql";
import type { Schema } from "../../../http/routing/schema.ts";
import type { GateNode } from "../../../kernel/access/gate-node.ts";
import type { Loader } from "../../operation/loader.ts";
import type { Class, GraphType } from "./graph-type.ts";

/** A reference to a type, as it was written: the type, a class, or a thunk. */
export type AnyRef = GraphType<unknown, unknown> | Class | (() => GraphType<unknown, unknown> | Class);

/** The declaration of a type, from which `schema()` builds it. */
export type TypeNode = NamedNode | WrapperNode | RefNode;
/** A directive and the arguments that it is applied with. */
export interface AppliedDirective {
  readonly "~kind": "directive";
  /** @internal */
  readonly directive: DirectiveNode;
  readonly args: Readonly<Record<string, unknown>>;
}
/** The declaration of a directive. */
export interface DirectiveNode {
  readonly name: string;
  readonly description: string | undefined;
  readonly locations: readonly DirectiveLocation[];
  readonly isRepeatable: boolean;
  readonly args: readonly (readonly [name: string, arg: ArgNode])[];
}
/** A declaration that may have directives. */
interface Marked {
  readonly directives?: readonly AppliedDirective[] | undefined;
}

export type NamedNode = ScalarNode | EnumNode | InputNode | ObjectNode | InterfaceNode | UnionNode;

interface ScalarNode extends Marked {
  readonly kind: "scalar";
  readonly name: string;
  readonly type: GraphQLScalarType;
}

export interface EnumNode extends Marked {
  readonly kind: "enum";
  readonly name: string;
  readonly description: string | undefined;
  readonly values: Readonly<Record<string, EnumValueNode>>;
  /** The advice to the author if another type has its name. */
  readonly advice?: string;
}
export interface EnumValueNode extends Marked {
  /** The value in the application. */
  readonly value: unknown;
  readonly description: string | undefined;
  readonly deprecationReason: string | undefined;
}

export interface InputNode extends Marked {
  readonly kind: "input";
  readonly name: string;
  readonly description: string | undefined;
  readonly isOneOf: boolean;
  /** The advice to the author if another type has its name. */
  readonly advice?: string;
  readonly fields: readonly (readonly [name: string, arg: ArgNode])[];
}
export interface ArgNode extends Marked {
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

export interface ObjectNode extends Marked {
  readonly kind: "object";
  readonly name: string;
  readonly description: string | undefined;
  readonly fields: Readonly<Record<string, MemberNode>>;
  readonly interfaces: readonly AnyRef[];
  /** Decides about every object of the type. */
  readonly gate: GateNode | null;
  /** The class whose decorated members are fields too, and whose instances are values of this type. */
  readonly model: Class | null;
  /** How its objects are found by id; `null` if they are not. */
  readonly node: NodeSource | null;
}
/** The objects of a type by their keys, and the field with their ids. */
export interface NodeSource {
  readonly rows: Loader<string, object | null>;
  isKey(text: string): boolean;
  /** The property that identifies a row. */
  readonly key: string;
  readonly idField: DeclaredField;
}

export interface InterfaceNode extends Marked {
  readonly kind: "interface";
  readonly name: string;
  readonly description: string | undefined;
  readonly fields: Readonly<Record<string, MemberNode>>;
  readonly interfaces: readonly AnyRef[];
  /** Decides about every object that implements it. */
  readonly gate: GateNode | null;
  readonly resolveType: TypeResolver | null;
}
export interface UnionNode extends Marked {
  readonly kind: "union";
  readonly name: string;
  readonly description: string | undefined;
  readonly types: readonly AnyRef[];
  readonly resolveType: TypeResolver | null;
}
/** Returns the name of a value's object type. */
type TypeResolver = (value: never) => string;

export type WrapperNode = Wrapper<"list"> | Wrapper<"nullable"> | Wrapper<"optional"> | ValidatedNode;
export interface Wrapper<K> {
  readonly kind: K;
  readonly of: AnyRef;
}
/** A scalar of an argument whose values a schema validates. */
export interface ValidatedNode extends Wrapper<"validated"> {
  readonly schema: Schema;
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
