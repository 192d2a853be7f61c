import {
  type ArgumentNode,
  type FieldNode,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isInterfaceType,
  isObjectType,
  Kind,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
  TypeNameMetaFieldDef,
} from "graphql";
import { type ListSize, sizeArguments } from "../declare/fields/field-options.ts";

/** A number, or a function that computes one from the variables. */
export type Quantity = number | ((variables: Readonly<Record<string, unknown>>) => number);

/** The cost of one field of one type. */
export interface FieldPrice {
  readonly cost: number;
  /** The fields that declare `listSize`. */
  readonly lists: readonly List[];
  /** The type of the selections in the field; `undefined` if the schema has no such field. */
  readonly type: GraphQLNamedType | undefined;
}

interface List {
  readonly field: GraphQLField<unknown, unknown>;
  readonly size: ListSize;
}

/**
 * The price of a field from its `extensions`: `cost`, which is 1 unless it is an integer, and `listSize`.
 * A field of an interface costs as much as in the most expensive object type that implements it.
 */
export function priceOf(schema: GraphQLSchema, parent: GraphQLNamedType | undefined, name: string): FieldPrice {
  const own = fieldOf(parent, name);
  if (own === undefined) return { cost: 1, lists: [], type: undefined };
  const fields = [own, ...implementations(schema, parent, name)];
  const costs = fields.map(({ extensions }) => (isCount(extensions["cost"]) ? extensions["cost"] : 1));
  const lists: List[] = fields.flatMap((field) => {
    const size = field.extensions["listSize"];
    return isListSize(size) ? [{ field, size }] : [];
  });
  // At least one of the object types does not declare the size of the list.
  if (lists.length < fields.length - 1) lists.push({ field: own, size: 1 });
  return { cost: Math.max(...costs), lists, type: getNamedType(own.type) };
}

/** The factor for the cost of the selections in this field. */
export function timesCounted({ lists }: FieldPrice, node: FieldNode): Quantity {
  const sizes = lists.map(({ field, size }) => quantityOf(size, field, node));
  if (sizes.length === 0) return 1;
  const known = sizes.filter((size) => typeof size === "number");
  const open = sizes.filter((size) => typeof size === "function");
  if (open.length === 0) return Math.max(...known);
  return (variables) => Math.max(...known, ...open.map((size) => size(variables)));
}

/** The field with that name, including the meta fields that every schema has. */
export function fieldOf(parent: GraphQLNamedType | undefined, name: string): GraphQLField<any, any> | undefined {
  const meta = META.get(name);
  if (meta !== undefined) return meta;
  if (!isObjectType(parent) && !isInterfaceType(parent)) return undefined;
  const fields = parent.getFields();
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

const META = new Map([SchemaMetaFieldDef, TypeMetaFieldDef, TypeNameMetaFieldDef].map((field) => [field.name, field]));

function implementations(
  schema: GraphQLSchema,
  parent: GraphQLNamedType | undefined,
  name: string,
): GraphQLField<any, any>[] {
  if (!isAbstractType(parent)) return [];
  return schema.getPossibleTypes(parent).flatMap((type) => fieldOf(type, name) ?? []);
}

function quantityOf(size: ListSize, field: GraphQLField<unknown, unknown>, node: FieldNode): Quantity {
  if (typeof size === "number") return size;
  const { max, assumed = max } = size;
  const asked = sizeArguments(size).map((argument) => askedFor(argument, field, node));
  if (asked.every(({ variable }) => variable === null)) return largest(asked.map(({ otherwise }) => otherwise));
  return (variables) =>
    largest(
      asked.map(({ variable, otherwise }) =>
        variable !== null && Object.hasOwn(variables, variable) ? variables[variable] : otherwise,
      ),
    );

  function largest(values: readonly unknown[]): number {
    const given = values.filter((value) => value !== null && value !== undefined);
    return given.length === 0 ? Math.min(assumed, max) : Math.max(...given.map(read));
  }

  function read(value: unknown): number {
    if (Array.isArray(value)) return Math.min(value.length, max);
    const count = Math.ceil(Number(typeof value === "bigint" || typeof value === "number" ? value : max));
    return Number.isNaN(count) ? max : Math.min(Math.max(count, 0), max);
  }
}

/** The value of an argument: that of a variable, or else a value that is already known. */
interface Asked {
  readonly variable: string | null;
  readonly otherwise: unknown;
}

function askedFor(argument: string, field: GraphQLField<unknown, unknown>, node: FieldNode): Asked {
  const given: ArgumentNode | undefined = node.arguments?.find(({ name }) => name.value === argument);
  const omitted = defaultOf(field.args.find(({ name }) => name === argument));
  if (given === undefined) return { variable: null, otherwise: omitted };
  return given.value.kind === Kind.VARIABLE
    ? { variable: given.value.name.value, otherwise: omitted }
    : { variable: null, otherwise: literal(given.value) };
}

/** graphql 16 holds the value, graphql 17 the value or its literal. */
function defaultOf(argument: GraphQLArgument | undefined): unknown {
  const { defaultValue, default: given } = (argument ?? {}) as {
    readonly defaultValue?: unknown;
    readonly default?: { readonly value?: unknown; readonly literal?: ArgumentNode["value"] };
  };
  return given?.literal === undefined ? (given?.value ?? defaultValue) : literal(given.literal);
}

/** A list becomes its length. A value that is not a number becomes `NaN`, for which the maximum size is used. */
function literal(node: ArgumentNode["value"]): unknown {
  if (node.kind === Kind.NULL) return null;
  if (node.kind === Kind.LIST) return node.values.length;
  return node.kind === Kind.INT || node.kind === Kind.FLOAT ? Number(node.value) : Number.NaN;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** The schema may come from another library, whose `listSize` means something else. */
function isListSize(value: unknown): value is ListSize {
  if (typeof value !== "object" || value === null) return isCount(value);
  const { argument, max, assumed } = value as Record<string, unknown>;
  const isNamed = typeof argument === "string" || (Array.isArray(argument) && argument.length > 0);
  return isNamed && isCount(max) && (assumed === undefined || isCount(assumed));
}
