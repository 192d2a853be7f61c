import {
  defaultFieldResolver,
  type FieldNode,
  type GraphQLField,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  SchemaMetaFieldDef,
  type SelectionSetNode,
  TypeMetaFieldDef,
} from "graphql";
import { withoutStack } from "../../errors/without-stack.ts";
import { type CollectScope, collectFields } from "../../selection/collect-fields.ts";
import { isGraphql17 } from "../../selection/is-graphql17.ts";
import { type BuildObject, buildPlainly, type ObjectShape } from "./build-object.ts";
import type { CompleteValue } from "./complete-slot.ts";
import { fieldArgs } from "./field-args.ts";
import { generateBuilder } from "./generate-builder.ts";
import { inspect } from "./inspect.ts";
import { listCompleter } from "./list-completer.ts";
import { abstractCompleter, type BuilderOf, objectCompleter } from "./object-completer.ts";
import { PlainField, type PlanField, ResolverField } from "./plan-field.ts";

/** After how many objects the code of a selection is generated; `Infinity` never generates it. */
export const HOT_AFTER = 1_000;
/** V8 creates objects with more properties than this as hash tables. */
const MAX_GENERATED = 100;

/** Compiles the selections of an operation, each when its first object is completed. */
export class SelectionCompiler {
  readonly #scope: CollectScope;
  readonly #hotAfter: number;
  /** Every field that was compiled so far. */
  readonly #fields: PlanField[] = [];

  constructor(scope: CollectScope, hotAfter: number) {
    this.#scope = scope;
    this.#hotAfter = hotAfter;
  }

  /** Whether the schema still has the resolvers that the fields were compiled for. */
  get isCurrent(): boolean {
    for (const field of this.#fields) if (!field.isCurrent) return false;
    return true;
  }

  /** How many fields were compiled so far. */
  get size(): number {
    return this.#fields.length;
  }

  builder(type: GraphQLObjectType, sets: readonly (SelectionSetNode | undefined)[]): BuildObject {
    return this.#adaptive(this.shape(type, sets));
  }

  shape(type: GraphQLObjectType, sets: readonly (SelectionSetNode | undefined)[]): ObjectShape {
    const template: Record<string, unknown> = {};
    const fields: PlanField[] = [];
    for (const [key, nodes] of collectFields(this.#scope, type, sets)) {
      const name = (nodes[0] as FieldNode).name.value;
      if (name === "__typename") define(template, key, type.name);
      else {
        const def = this.#definition(type, name);
        if (def === undefined) continue;
        define(template, key, null);
        fields.push(this.#field(key, def, type, nodes));
      }
    }
    return { template, fields };
  }

  #definition(type: GraphQLObjectType, name: string): GraphQLField<unknown, unknown> | undefined {
    if (type === this.#scope.schema.getQueryType()) {
      if (name === SchemaMetaFieldDef.name) return SchemaMetaFieldDef;
      if (name === TypeMetaFieldDef.name) return TypeMetaFieldDef;
    }
    return type.getFields()[name];
  }

  #field(
    key: string,
    def: GraphQLField<unknown, unknown>,
    parentType: GraphQLObjectType,
    nodes: readonly FieldNode[],
  ): PlanField {
    const isNonNull = isNonNullType(def.type);
    const nullable = isNonNullType(def.type) ? def.type.ofType : def.type;
    const leafType = isLeafType(nullable) ? nullable : null;
    const complete = this.#completer(def.type, `${parentType.name}.${def.name}`, nodes);
    const parts = { key, def, parentType, nodes, isNonNull, leafType, complete };
    const isProperty = (def.resolve ?? defaultFieldResolver) === defaultFieldResolver && def.args.length === 0;
    const field = isProperty
      ? new PlainField(parts)
      : new ResolverField(parts, fieldArgs(def, nodes[0] as FieldNode, this.#fields.length));
    this.#fields.push(field);
    return field;
  }

  /** The builders of what a field selects, by object type. */
  #builderOf(nodes: readonly FieldNode[]): BuilderOf {
    const builders = new Map<GraphQLObjectType, BuildObject>();
    return (type) => {
      const known = builders.get(type);
      if (known !== undefined) return known;
      const builder = this.builder(
        type,
        nodes.map(({ selectionSet }) => selectionSet),
      );
      builders.set(type, builder);
      return builder;
    };
  }

  #completer(type: GraphQLOutputType, place: string, nodes: readonly FieldNode[]): CompleteValue {
    if (isNonNullType(type)) return nonNull(this.#completer(type.ofType, place, nodes), place);
    if (isListType(type)) {
      const item: GraphQLOutputType = type.ofType;
      const complete = this.#completer(item, place, nodes);
      return listCompleter({ nodes, isNonNull: isNonNullType(item), complete }, place);
    }
    if (isLeafType(type)) return leafCompleter(type);
    const builderOf = this.#builderOf(nodes);
    if (isObjectType(type)) return objectCompleter(type, builderOf);
    return abstractCompleter(type, builderOf, place);
  }

  /** Generates the code of a selection once it has proved to be used often. */
  #adaptive(shape: ObjectShape): BuildObject {
    const plain = buildPlainly(shape);
    if (this.#hotAfter === Number.POSITIVE_INFINITY || shape.fields.length > MAX_GENERATED) return plain;
    let build = this.#hotAfter === 0 ? (generateBuilder(shape) ?? plain) : plain;
    let left = this.#hotAfter;
    return (run, source, path) => {
      if (left > 0 && --left === 0) build = generateBuilder(shape) ?? plain;
      return build(run, source, path);
    };
  }
}

/** Creates a property. An assignment to `__proto__` would change the prototype, unless there is a property of that name. */
function define(template: object, key: string, value: unknown): void {
  Object.defineProperty(template, key, { value, enumerable: true, writable: true, configurable: true });
}

function nonNull(complete: CompleteValue, place: string): CompleteValue {
  return (run, info, path, value) => {
    const completed = complete(run, info, path, value);
    if (completed === null) throw withoutStack(() => new Error(`Cannot return null for non-nullable field ${place}.`));
    return completed;
  };
}

type Coerce = (value: unknown) => unknown;

/** Converts a value of a scalar or an enum to its form in the response. */
function leafCompleter(type: GraphQLLeafType): CompleteValue {
  const method = isGraphql17 ? "coerceOutputValue" : "serialize";
  const coercing = type as unknown as Record<typeof method, Coerce>;
  return (_run, _info, _path, value) => {
    if (value instanceof Error) throw value;
    if (value === null || value === undefined) return null;
    const coerced = coercing[method](value);
    if (coerced === null || coerced === undefined)
      throw new Error(
        `Expected \`${inspect(type)}.${method}(${inspect(value)})\` to return non-nullable value, returned: ${inspect(coerced)}`,
      );
    return coerced;
  };
}
