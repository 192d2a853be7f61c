import {
  defaultFieldResolver,
  type GraphQLFieldResolver,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  isListType,
  isNonNullType,
  isObjectType,
} from "graphql";
import { isPromise } from "../../core/maybe-promise.ts";
import { withReadsOf } from "../declare/fields/reads-of.ts";
import { objectLimitError } from "./plan/object-limit-error.ts";

/** Counts the objects of an operation that graphql executes. A plan counts them itself. */
export class ObjectCounter {
  readonly #most: number;
  #count = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get isExceeded(): boolean {
    return this.#count > this.#most;
  }

  /** Counts the objects in the result of a resolver, and throws if there are too many. */
  counted(value: unknown, type: GraphQLOutputType): unknown {
    if (this.isExceeded) throw objectLimitError(this.#most);
    if (value === null || value === undefined || value instanceof Error) return value;
    if (isPromise(value)) return value.then((later) => this.counted(later, type));
    const nullable = isNonNullType(type) ? type.ofType : type;
    if (isListType(nullable)) return this.#countedList(value, nullable.ofType as GraphQLOutputType);
    this.#count++;
    if (this.isExceeded) throw objectLimitError(this.#most);
    return value;
  }

  #countedList(list: unknown, item: GraphQLOutputType): unknown {
    if (Array.isArray(list)) return list.map((one: unknown) => this.#countedItem(one, item));
    if (typeof list !== "object" || list === null) return list;
    if (Symbol.asyncIterator in list) return this.#countedLater(list as AsyncIterable<unknown>, item);
    return Symbol.iterator in list ? this.#countedEach(list as Iterable<unknown>, item) : list;
  }

  /** An item that is a promise must not reject before graphql waits for it. */
  #countedItem(value: unknown, type: GraphQLOutputType): unknown {
    const counted = this.counted(value, type);
    if (isPromise(counted)) counted.then(undefined, () => {});
    return counted;
  }

  *#countedEach(list: Iterable<unknown>, item: GraphQLOutputType): Generator<unknown> {
    for (const one of list) yield this.#countedItem(one, item);
  }

  async *#countedLater(list: AsyncIterable<unknown>, item: GraphQLOutputType): AsyncGenerator<unknown> {
    for await (const one of list) yield this.#countedItem(one, item);
  }
}

const counters = new WeakMap<object, ObjectCounter>();

/** Counts the objects of the operation with this context value. Returns its counter and the default resolver for it. */
export function startCounting(
  schema: GraphQLSchema,
  contextValue: object,
  most: number,
): { readonly counter: ObjectCounter; readonly fieldResolver: Resolver } {
  countResults(schema);
  const counter = new ObjectCounter(most);
  counters.set(contextValue, counter);
  return { counter, fieldResolver: countingDefault };
}

type Resolver = GraphQLFieldResolver<unknown, unknown>;

const countingDefault: Resolver = counting(defaultFieldResolver);
const counted = new WeakSet<GraphQLSchema>();

/**
 * Wraps the resolvers of a schema that return objects. It changes the schema, so it runs only when graphql executes an
 * operation: a plan needs no wrapped resolvers.
 */
function countResults(schema: GraphQLSchema): void {
  if (counted.has(schema)) return;
  counted.add(schema);
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith("__")) continue;
    for (const field of Object.values(type.getFields()))
      if (field.resolve && isCompositeType(getNamedType(field.type)))
        field.resolve = withReadsOf(field, counting(field.resolve));
  }
}

function counting(resolve: Resolver): Resolver {
  return function countingResolver(source, args, contextValue, info) {
    const value: unknown = resolve(source, args, contextValue, info);
    const counter = counters.get(contextValue as object);
    if (counter === undefined || !isCompositeType(getNamedType(info.returnType))) return value;
    return counter.counted(value, info.returnType);
  };
}
