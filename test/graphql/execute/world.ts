import { setImmediate as turn } from "node:timers/promises";
import {
  GraphQLError,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNullableType,
  isEnumType,
  isInterfaceType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  isUnionType,
} from "graphql";
import { Chance } from "./chance.ts";

/**
 * How promises of resolvers settle: there are none, all of them in one turn of the event loop, or each in its own turn after it
 * was read. Within a turn the number of promise callbacks decides which error comes first, and graphql does not define it.
 */
export type Timing = "none" | "same turn" | "own turn";

/** The values and the misbehaviour of all resolvers in one case. They depend on the seed and on the place only. */
export class World {
  readonly seed: string;
  readonly timing: Timing;
  readonly #schema: GraphQLSchema;
  readonly #order: Chance | null;
  readonly #waiting: { readonly at: number; readonly run: () => void }[] = [];
  /** The share of values that are wrong. */
  readonly #faults: number;
  /** The share of values that are promises. */
  readonly #promises: number;
  #now = 0;
  #isRunning = false;

  /** @param order settles the promises of "same turn" in their own turns instead, in an order that depends on this number */
  constructor(schema: GraphQLSchema, seed: string, timing: Timing, order: number | null = null) {
    this.#schema = schema;
    this.seed = seed;
    this.timing = timing;
    this.#order = order === null ? null : new Chance(`order ${order}`);
    const chance = this.chance("");
    this.#faults = chance.pick([0.03, 0.12, 0.3]);
    this.#promises = chance.pick([0.2, 0.5, 0.9]);
  }

  chance(place: string): Chance {
    return new Chance(`${this.seed} ${place}`);
  }

  /** What a resolver returns for a field. It may throw. */
  value(type: GraphQLOutputType, place: string): unknown {
    const chance = this.chance(place);
    const now = (): unknown => this.#outcome(type, place, chance);
    return this.#isPromise(chance) ? this.#later(chance, now) : now();
  }

  /** A value, or sometimes a promise for it. */
  sometimesLater<T>(chance: Chance, value: T): T | Promise<T> {
    return this.timing === "none" || !chance.is(0.3) ? value : this.#promise(chance.below(4), () => value);
  }

  #isPromise(chance: Chance): boolean {
    return this.timing !== "none" && chance.is(this.#promises);
  }

  get #hasOwnTurns(): boolean {
    return this.timing === "own turn" || this.#order !== null;
  }

  #outcome(type: GraphQLOutputType, place: string, chance: Chance): unknown {
    if (chance.is(this.#faults)) return misbehave(chance, place, this.timing);
    if (isNonNullType(type)) return this.#good(type.ofType, place, chance);
    return chance.is(0.1) ? chance.pick([null, undefined]) : this.#good(type, place, chance);
  }

  #good(type: GraphQLOutputType, place: string, chance: Chance): unknown {
    if (isListType(type)) return this.#list(type.ofType as GraphQLOutputType, place, chance);
    if (isObjectType(type)) return this.source(type.name, place);
    if (isInterfaceType(type) || isUnionType(type))
      return this.source(chance.pick(this.#schema.getPossibleTypes(type)).name, place);
    if (isEnumType(type)) return chance.is(0.9) ? chance.pick(type.getValues()).value : "UNKNOWN";
    return leaf((type as { readonly name: string }).name, chance, place);
  }

  #list(item: GraphQLOutputType, place: string, chance: Chance): unknown {
    const kind = chance.below(12);
    const length = chance.below(4);
    const fails = chance.is(0.3);
    const make = (index: number): unknown => attempt(() => this.value(item, `${place}.${index}`));
    if (kind === 2 && this.timing !== "none") return this.#yieldLater(length, make, fails);
    if (kind === 3) return new Map([["a", 1]]);
    const items = Array.from({ length }, (_, index) => make(index));
    if (kind === 0) return new Set(items);
    return kind === 1 ? yieldAll(items, fails) : items;
  }

  /** An object of a type. Its leaves are properties, getters, methods or promises, which must not settle before they are read. */
  source(typeName: string, place: string): object {
    const type = this.#schema.getType(typeName);
    const source: Record<string, unknown> = { __place: place };
    if (this.chance(`${place} name`).is(0.95)) source["__typename"] = typeName;
    if (!isObjectType(type)) return source;
    for (const field of Object.values(type.getFields())) {
      const at = `${place}.${field.name}`;
      const get = (): unknown => this.value(field.type, at);
      const kind = this.chance(`${at} kind`).below(10);
      const isPlain =
        kind > 3 && isLeafType(getNullableType(field.type)) && !(this.#hasOwnTurns && this.#isPromise(this.chance(at)));
      if (kind === 0) source[field.name] = get;
      else if (isPlain) source[field.name] = attempt(get);
      else Object.defineProperty(source, field.name, { get, enumerable: true, configurable: true });
    }
    return source;
  }

  #later(chance: Chance, now: () => unknown): unknown {
    const kind = chance.below(10);
    const wait = chance.below(4);
    const promise = this.#promise(wait, now);
    promise.catch(() => {});
    if (kind > 0) return promise;
    // oxlint-disable-next-line unicorn/no-thenable -- a promise of another library
    return Object.fromEntries([["then", promise.then.bind(promise)]]);
  }

  /** Each step has its own turn, so that what an item does is complete before the next. */
  async *#yieldLater(length: number, make: (index: number) => unknown, fails: boolean): AsyncGenerator<unknown> {
    for (let index = 0; index < length; index++) {
      await this.#promise(1, () => null);
      yield make(index);
    }
    await this.#promise(1, () => null);
    if (fails) throw new Error("async iterator");
  }

  #promise<T>(wait: number, now: () => T): Promise<T> {
    if (!this.#hasOwnTurns) return (async () => now())();
    return new Promise((resolve, reject) => {
      this.#after(wait, () => {
        try {
          resolve(now());
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  /** Runs callbacks one in each turn of the event loop, so that their order does not depend on promise callbacks. */
  #after(wait: number, run: () => void): void {
    this.#waiting.push({ at: this.#now + (this.#order?.below(20) ?? wait), run });
    if (this.#isRunning) return;
    this.#isRunning = true;
    setImmediate(this.#next);
  }

  /** Waits for what is still running after the result. */
  async isIdle(): Promise<void> {
    if (this.timing === "none") return;
    do await turn();
    while (this.#isRunning);
  }

  readonly #next = (): void => {
    let first = 0;
    for (let index = 1; index < this.#waiting.length; index++)
      if ((this.#waiting[index]?.at ?? 0) < (this.#waiting[first]?.at ?? 0)) first = index;
    const [next] = this.#waiting.splice(first, 1);
    this.#isRunning = next !== undefined;
    if (next === undefined) return;
    this.#now = next.at;
    setImmediate(this.#next);
    next.run();
  };
}

/** An item of a list does not throw while the list is made. */
function attempt(make: () => unknown): unknown {
  try {
    return make();
  } catch (error) {
    return error instanceof Error ? error : null;
  }
}

function* yieldAll(items: readonly unknown[], fails: boolean): Generator<unknown> {
  yield* items;
  if (fails) throw new Error("iterator");
}

function misbehave(chance: Chance, place: string, timing: Timing): unknown {
  switch (chance.below(12)) {
    case 0:
    case 1:
      throw new Error(`error at ${place}`);
    case 2:
      throw new GraphQLError(`graphql error at ${place}`, { extensions: { code: "OWN" } });
    case 3:
      // oxlint-disable-next-line typescript/only-throw-error -- resolvers may throw anything
      throw chance.pick(["text", null, undefined, 7, { message: "object" }, Symbol("s"), () => 1]);
    case 4:
      return new Error(`returned at ${place}`);
    case 5:
      return chance.pick([42, "text", true, Number.NaN, 10n, "", 0]);
    case 6:
      return { some: "object" };
    case 7:
      return [];
    case 8:
      return Object.assign(() => "function", { id: 1 });
    case 9:
      // The error of another place is located already. Where promises race, the test would not know what it made null.
      throw new GraphQLError("located", timing === "same turn" ? {} : { path: ["elsewhere"] });
    case 10:
      return Object.create(null);
    default:
      return null;
  }
}

function leaf(name: string, chance: Chance, place: string): unknown {
  switch (name) {
    case "Int":
      return chance.pick<unknown>([
        0,
        -0,
        1,
        -7,
        2_147_483_647,
        2_147_483_648,
        1.5,
        "12",
        "x",
        true,
        Number.NaN,
        { valueOf: () => 3 },
      ]);
    case "Float":
      return chance.pick<unknown>([0, 1.5, -2, Number.POSITIVE_INFINITY, "1.5", false, 10n, { valueOf: () => 2.5 }]);
    case "Boolean":
      return chance.pick([true, false, 1, 0, "yes"]);
    case "ID":
      return chance.pick<unknown>(["a", 7, 1.5, place, { toJSON: () => "json" }]);
    case "String":
      return chance.pick<unknown>([place, place, "", 7, true, {}, { toString: () => "no" }, { valueOf: () => "yes" }]);
    default:
      return chance.pick([1, 2, 3, "odd", { deep: [1, { null: null }] }, "none"]);
  }
}
