import type { FilterField, FilterFields, FilterOperators, FilterTest } from "../../pagination/filter/filterable.ts";
import { testsOf } from "../../pagination/filter/tests-of.ts";
import { isDeclaration } from "../declare/fields/field-declaration.ts";
import { nodeOf } from "../declare/fields/node-of.ts";
import type { ArgRef } from "../declare/references/graph-type.ts";
import type { AnyRef, EnumNode, ObjectNode } from "../declare/references/type-node.ts";
import { type EnumType, enumOf } from "../declare/types/enum-type.ts";
import { type InputType, input } from "../declare/types/input-type.ts";
import { list, optional } from "../declare/types/list-type.ts";
import type { Scalar } from "../declare/types/scalar.ts";
import { boolean, dateTime, float, id, int, string } from "../declare/types/scalars.ts";
import { InputOwner } from "./input-owner.ts";

/** The type of the argument `filter`: `BookFilter`, with a field for each filter. */
export function filterInput(owner: InputOwner, fields: FilterFields): InputType<unknown> {
  const all = [...fields.values()];
  const description = `The filters of a list of ${owner.node.name}. An item has to pass all of them.`;
  return owner.own("Filter", all, (name) => {
    const inputs = all.map((field) => [field.name, optional(testsInput(owner, field))] as const);
    return input(name, Object.fromEntries(inputs), { description });
  });
}

/** The comparisons of one filter: `IntegerRangeFilter`, or `BookGenreFilter` if its values are words. */
function testsInput(owner: InputOwner, field: FilterField): InputType<unknown> {
  const { name, type, operators } = field;
  if (typeof type === "string")
    return InputOwner.common(`${[type, ...operators].map(pascalCase).join("")}Filter`, (inputName) =>
      comparisons(inputName, field, SCALARS[type]),
    );
  return owner.own(`${pascalCase(name)}Filter`, [type, operators], (inputName) =>
    comparisons(inputName, field, wordType(owner, name, type)),
  );
}

function comparisons(name: string, field: FilterField, value: ValueType): InputType<unknown> {
  const typeOf = (test: FilterTest): ArgRef => (test === "isNull" ? boolean : test === "in" ? list(value) : value);
  return input(name, Object.fromEntries(testsOf(field).map((test) => [test, optional(typeOf(test))] as const)));
}

type ValueType = Scalar<any> | EnumType<string>;
const SCALARS: Readonly<Record<keyof FilterOperators, ValueType>> = {
  text: string,
  integer: int,
  number: float,
  boolean,
  date: dateTime,
  id,
};

/**
 * The enum of the field with this name if its values are these words, a new enum, or a string if a word is not a
 * valid name.
 */
function wordType(owner: InputOwner, name: string, words: readonly string[]): ValueType {
  const own = fieldEnum(owner.node, name);
  const values = Object.values(own?.values ?? {}).map(({ value }) => value);
  if (values.length === words.length && words.every((word) => values.includes(word)))
    return { "~kind": "enum", "~node": own } as EnumType<string>;
  const isEnum = words.every((word) => /^(?!__|(?:true|false|null)$)[A-Za-z_][A-Za-z0-9_]*$/.test(word));
  return isEnum ? owner.own(`${pascalCase(name)}Value`, words, (enumName) => enumOf(enumName, words)) : string;
}

function fieldEnum({ name: owner, fields }: ObjectNode, name: string): EnumNode | null {
  const member = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (member === undefined) return null;
  const node = nodeOf(`${owner}.${name}`, isDeclaration(member) ? member.type : (member as AnyRef));
  const inner = node.kind === "nullable" ? nodeOf(`${owner}.${name}`, node.of) : node;
  return inner.kind === "enum" ? inner : null;
}

function pascalCase(name: string): string {
  const words = name.split("_").filter((word) => word !== "");
  return words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join("");
}
