import { execute, type GraphQLSchema, type OperationDefinitionNode, OperationTypeNode, parse, validate } from "graphql";
import { expect, it } from "vitest";
import { Plan } from "../../../src/graphql/execute/plan/plan.ts";
import { Chance } from "./chance.ts";
import { compareRandomly } from "./compare-randomly.ts";
import { randomOperation } from "./random-operation.ts";
import { randomSchema } from "./random-schema.ts";
import { seen, withoutRaces } from "./same-result.ts";
import { unhandledRejections } from "./unhandled-rejections.ts";
import { type Timing, World } from "./world.ts";

/** A million cases: PORTICO_FUZZ=1000000 npx vitest run test/graphql/execute/differential.test.ts */
const CASES = Number(process.env["PORTICO_FUZZ"] ?? 6_000);

const TIMINGS: readonly Timing[] = ["none", "none", "own turn", "own turn", "same turn"];
/** When the code of a selection is generated: at once, after the second object, never. */
const HOT = [0, 2, Number.POSITIVE_INFINITY];

const schemas = new Map<number, GraphQLSchema>();

const unhandled = unhandledRejections();

/** Compares one operation of one schema in one world. Returns whether the operation is valid. */
async function compare(seed: number): Promise<boolean> {
  const chance = new Chance(`case ${seed}`);
  const which = chance.below(200);
  const schema = schemas.get(which) ?? randomSchema(`schema ${which}`);
  schemas.set(which, schema);
  const { text, variables } = randomOperation(schema, chance);
  const document = parse(text);
  if (validate(schema, document).length > 0) return false;
  const timing = chance.pick(TIMINGS);
  const hot = chance.pick(HOT);
  const operation = document.definitions[0] as OperationDefinitionNode;
  const hasRoot = chance.is(0.5);
  const rootName = operation.operation === OperationTypeNode.QUERY ? "Query" : "Mutation";
  // Promises in the sources belong to one execution.
  const start = (): { readonly contextValue: World; readonly rootValue: unknown } => {
    const contextValue = new World(schema, `world ${seed}`, timing);
    return { contextValue, rootValue: hasRoot ? contextValue.source(rootName, "") : undefined };
  };
  const plan = Plan.compile(schema, document, operation, { hotAfter: hot });
  expect(plan, text).not.toBeNull();
  const ours = start();
  const actual = await plan?.execute({ ...ours, variables, mostObjects: Number.POSITIVE_INFINITY });
  await ours.contextValue.isIdle();
  expect(unhandled, text).toEqual([]);
  const theirs = start();
  const expected = await execute({ schema, document, ...theirs, variableValues: variables });
  await theirs.contextValue.isIdle();
  unhandled.length = 0;
  if (actual === undefined || actual === null) return false;
  const view = timing === "same turn" ? withoutRaces : seen;
  expect(view(actual), `${text}\n${JSON.stringify(variables)}\n${timing} ${hot}`).toEqual(view(expected));
  return true;
}

it(
  `has the same results as graphql in ${CASES} random operations`,
  () => compareRandomly(CASES, 1 / 2, compare),
  24 * 60 * 60_000,
);
