import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isEnumType,
  isLeafType,
  isListType,
  isNonNullType,
  isNullableType,
  isObjectType,
} from "graphql";
import type { GeneratedValues } from "./generated-values.ts";
import type { Random } from "./random.ts";

export interface Operation {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** One random document over a schema: selections, aliases, fragments, arguments and variables. */
export class GeneratedDocument {
  readonly #schema: GraphQLSchema;
  readonly #random: Random;
  readonly #values: GeneratedValues;
  readonly #fragments: string[] = [];
  readonly #declared: string[] = [];
  readonly #variables: Record<string, unknown> = {};
  #names = 0;
  /** Limits the size of the document. */
  #left = 60;

  constructor(schema: GraphQLSchema, random: Random, values: GeneratedValues) {
    this.#schema = schema;
    this.#random = random;
    this.#values = values;
  }

  query(depth: number): Operation {
    return this.#operation("query", this.#schema.getQueryType() as GraphQLObjectType, 1 + this.#random.below(3), depth);
  }

  mutation(depth: number): Operation {
    const fields = this.#random.chance(0.3) ? 2 + this.#random.below(2) : 1;
    return this.#operation("mutation", this.#schema.getMutationType() as GraphQLObjectType, fields, depth);
  }

  subscription(depth: number): Operation {
    return this.#operation("subscription", this.#schema.getSubscriptionType() as GraphQLObjectType, 1, depth);
  }

  #operation(keyword: string, root: GraphQLObjectType, count: number, depth: number): Operation {
    const names = Object.values(root.getFields());
    const fields = Array.from({ length: count }, () => this.#field(this.#random.pick(names), depth, true));
    const head = this.#declared.length === 0 ? keyword : `${keyword} Generated(${this.#declared.join(", ")})`;
    return {
      query: [`${head} { ${fields.join(" ")} }`, ...this.#fragments].join("\n"),
      variables: this.#variables,
    };
  }

  #field(field: GraphQLField<unknown, unknown>, depth: number, isApart: boolean): string {
    this.#left--;
    const args = field.args.flatMap((argument) => this.#argument(field.name, argument));
    // A field with arguments has its own name in the response, because two of them could conflict.
    const alias = args.length > 0 || isApart || this.#random.chance(0.15) ? `${field.name}_${this.#names++}: ` : "";
    const given = args.length === 0 ? "" : `(${args.join(", ")})`;
    const type = getNamedType(field.type) as GraphQLNamedType;
    return `${alias}${field.name}${given}${isLeafType(type) ? "" : ` { ${this.#selection(type, depth - 1)} }`}`;
  }

  #selection(type: GraphQLNamedType, depth: number): string {
    const parts: string[] = [];
    if (isAbstractType(type)) {
      parts.push("__typename");
      const members = this.#schema.getPossibleTypes(type);
      for (const member of members)
        if (this.#random.chance(0.6)) parts.push(`... on ${member.name} { ${this.#fieldsOf(member, depth, true)} }`);
    }
    if ("getFields" in type) parts.push(this.#fieldsOf(type as GraphQLObjectType, depth, false));
    return parts.join(" ");
  }

  #fieldsOf(type: GraphQLObjectType, depth: number, isApart: boolean): string {
    const random = this.#random;
    const fields = Object.values(type.getFields());
    const leaves = fields.filter((field) => isLeafType(getNamedType(field.type)));
    const deeper = fields.filter((field) => !isLeafType(getNamedType(field.type)));
    const chosen = leaves.length === 0 ? ["__typename"] : [];
    for (let count = 1 + random.below(3); count > 0 && leaves.length > 0; count--)
      chosen.push(this.#field(random.pick(leaves), depth, isApart));
    if (depth > 1 && deeper.length > 0 && this.#left > 0)
      for (let count = 1 + random.below(2); count > 0; count--)
        chosen.push(this.#field(random.pick(deeper), depth, true));
    const text = chosen.join(" ");
    if (!isObjectType(type)) return text;
    return random.weighted([
      [8, () => text],
      [1, () => `... on ${type.name} { ${text} }`],
      [1, () => `... @include(if: true) { ${text} }`],
      [1, () => this.#fragment(type.name, text)],
    ])();
  }

  #fragment(type: string, text: string): string {
    const name = `F${this.#names++}`;
    this.#fragments.push(`fragment ${name} on ${type} { ${text} }`);
    return `...${name}`;
  }

  #argument(field: string, argument: GraphQLArgument): readonly string[] {
    const value = this.#value(field, argument);
    if (value === undefined) return [];
    if (!this.#random.chance(0.3)) {
      const literal = JSON.stringify(value);
      return [`${argument.name}: ${isEnumType(getNamedType(argument.type)) ? literal.replaceAll('"', "") : literal}`];
    }
    const name = `v${this.#names++}`;
    this.#declared.push(`$${name}: ${String(argument.type)}`);
    this.#variables[name] = value;
    return [`${argument.name}: $${name}`];
  }

  /** Returns `undefined` to leave the argument out. */
  #value(field: string, { name, type, defaultValue }: GraphQLArgument): unknown {
    const random = this.#random;
    const isOptional = isNullableType(type) || defaultValue !== undefined;
    switch (name) {
      case "first":
        return random.chance(0.5) ? this.#values.count() : undefined;
      case "last":
        return random.chance(0.1) ? this.#values.count() : undefined;
      case "after":
      case "before":
        return random.chance(name === "after" ? 0.2 : 0.05) ? this.#values.cursor(field) : undefined;
      case "sort":
        return random.chance(0.15) ? this.#values.orders(getNamedType(type)) : undefined;
      case "take":
        return random.chance(0.5) ? 1 + random.below(40) : undefined;
      case "name":
      case "title":
      case "text":
        return this.#values.text();
      default:
        if (isOptional && random.chance(0.4)) return undefined;
        return isListType(isNonNullType(type) ? type.ofType : type)
          ? Array.from({ length: 1 + random.below(4) }, () => this.#values.id(field, name))
          : this.#values.id(field, name);
    }
  }
}
