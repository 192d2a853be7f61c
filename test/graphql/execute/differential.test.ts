import {
  type DocumentNode,
  type ExecutionResult,
  execute,
  type GraphQLSchema,
  type OperationDefinitionNode,
  OperationTypeNode,
  parse,
  validate,
} from "graphql";
import { afterAll, expect, it } from "vitest";
import { Slice } from "../../../src/core/work/slice.ts";
import { Plan } from "../../../src/graphql/execute/plan/plan.ts";
import { Chance } from "./chance.ts";
import { compareRandomly } from "./compare-randomly.ts";
import { randomOperation } from "./random-operation.ts";
import { randomSchema } from "./random-schema.ts";
import { isSame, racedErrors, seen } from "./same-result.ts";
import { unhandledRejections } from "./unhandled-rejections.ts";
import { type Timing, World } from "./world.ts";

const TIMINGS: readonly Timing[] = ["none", "none", "own turn", "own turn", "same turn"];
/** When the code of a selection is generated: at once, after the second object, never. */
const HOT = [0, 2, Number.POSITIVE_INFINITY];
/** How often each operation is executed. Most of the time would otherwise go to its validation. */
const WORLDS = 4;
/** In how many orders promises that race are settled to find out which errors depend on the order. */
const ORDERS = 500;

const schemas = new Map<number, GraphQLSchema>();
/** Whether lists pause, so that the speed of the machine does not decide it. */
let pauses = false;
// Not a spy, which would keep every call.
const isOver = Object.getOwnPropertyDescriptor(Slice.prototype, "isOver") as PropertyDescriptor;
Slice.prototype.isOver = () => pauses;
afterAll(() => {
  Object.defineProperty(Slice.prototype, "isOver", isOver);
});

const unhandled = unhandledRejections();

/** Compares one operation of one schema in several worlds. Returns how many results were compared. */
async function compare(seed: number): Promise<number> {
  const chance = new Chance(`case ${seed}`);
  const which = chance.below(200);
  const schema = schemas.get(which) ?? randomSchema(`schema ${which}`);
  schemas.set(which, schema);
  const { text, variables } = randomOperation(schema, chance);
  const document = parse(text);
  if (validate(schema, document).length > 0) return 0;
  const hot = chance.pick(HOT);
  const plan = Plan.compile(schema, document, document.definitions[0] as OperationDefinitionNode, { hotAfter: hot });
  if (plan === null) throw new Error(`There is no plan for ${text}`);
  let compared = 0;
  for (let index = 0; index < WORLDS; index++) {
    const timing = chance.pick(TIMINGS);
    // With promises, a pause decides which of them settles first. Without them, the order stays that of graphql, but for the
    // errors of items before and after a pause: any of them may be the one that their parent becomes null with.
    pauses = timing === "none" && index === 0;
    const given = {
      schema,
      document,
      seed: `world ${seed} ${index}`,
      timing,
      hasRoot: chance.is(0.5),
      variables: variables(),
    };
    const facts = `${text}\n${JSON.stringify(given.variables)}\nworld ${index}, ${timing}, ${hot}`;
    if (await compareIn(given, plan, facts)) compared++;
  }
  return compared;
}

/** One execution of an operation. */
interface Given {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly seed: string;
  readonly timing: Timing;
  readonly hasRoot: boolean;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** Returns whether the plan could be used. */
async function compareIn(given: Given, plan: Plan, facts: string): Promise<boolean> {
  const { contextValue, rootValue } = start(given);
  const { variables } = given;
  const actual = await plan.execute({ contextValue, rootValue, variables, mostObjects: Number.POSITIVE_INFINITY });
  await contextValue.isIdle();
  if (unhandled.length > 0) throw new Error(`${facts}\nleft rejections unhandled: ${unhandled.map(String).join()}`);
  if (actual === null) return false;
  const expected = await expectedOf(given);
  if (isSame(actual, expected) || (pauses && racedErrors(actual, expected) !== null)) return true;
  if (given.timing === "same turn" && (await isRace(given, actual, expected))) return true;
  expect(seen(actual), facts).toEqual(seen(expected));
  return true;
}

/** Promises in the sources belong to one execution. */
function start(
  { schema, document, seed, timing, hasRoot }: Given,
  order: number | null = null,
): { readonly contextValue: World; readonly rootValue: unknown } {
  const contextValue = new World(schema, seed, timing, order);
  const { operation } = document.definitions[0] as OperationDefinitionNode;
  const rootName = operation === OperationTypeNode.QUERY ? "Query" : "Mutation";
  return { contextValue, rootValue: hasRoot ? contextValue.source(rootName, "") : undefined };
}

async function expectedOf(given: Given, order: number | null = null): Promise<ExecutionResult> {
  const { schema, document, variables: variableValues } = given;
  const { contextValue, rootValue } = start(given, order);
  const result = await execute({ schema, document, contextValue, rootValue, variableValues });
  await contextValue.isIdle();
  // graphql 16 leaves some.
  unhandled.length = 0;
  return result;
}

/** Whether graphql itself reports each error that differs in some orders of the promises and not in others. */
async function isRace(given: Given, actual: ExecutionResult, expected: ExecutionResult): Promise<boolean> {
  const before = new Set(seen(expected).errors);
  let left = racedErrors(actual, expected);
  for (let order = 0; left !== null && left.length > 0 && order < ORDERS; order++) {
    const after = new Set(seen(await expectedOf(given, order)).errors);
    left = left.filter((error) => before.has(error) === after.has(error));
  }
  return left?.length === 0;
}

it(
  "has the same results as graphql in random operations",
  async () => {
    expect(await compareRandomly(12_000, compare)).toBeGreaterThan(0);
  },
  24 * 60 * 60_000,
);
