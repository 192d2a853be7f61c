import { setImmediate as turn } from "node:timers/promises";
import { type GraphQLSchema, type OperationDefinitionNode, parse, validate } from "graphql";
import { expect, it } from "vitest";
import { Plan } from "../../../src/graphql/execute/plan/plan.ts";
import { runOperation } from "../../../src/graphql/execute/run-operation.ts";
import { httpContext, somebody } from "../ask.ts";
import { Chance } from "./chance.ts";
import { compareRandomly } from "./compare-randomly.ts";
import { randomOperation } from "./random-operation.ts";
import { keepJournal, randomPorticoSchema } from "./random-portico-schema.ts";
import { hasPropagated, type Seen, withoutRaces } from "./same-result.ts";
import { unhandledRejections } from "./unhandled-rejections.ts";

const CASES = Number(process.env["PORTICO_FUZZ"] ?? 1_500);

const unhandled = unhandledRejections();
const schemas = new Map<number, GraphQLSchema>();

/** Runs one operation with and without a plan. Returns whether the operation is valid. */
async function compare(seed: number): Promise<boolean> {
  const chance = new Chance(`portico ${seed}`);
  const which = chance.below(100);
  const schema = schemas.get(which) ?? randomPorticoSchema(`portico schema ${which}`);
  schemas.set(which, schema);
  const { text, variables } = randomOperation(schema, chance);
  const document = parse(text);
  if (validate(schema, document).length > 0) return false;
  const plan = Plan.compile(schema, document, document.definitions[0] as OperationDefinitionNode, {
    hotAfter: chance.pick([0, 2]),
  });
  const run = async (executor: Plan | null): Promise<Seen & { readonly calls: readonly string[] }> => {
    const ctx = httpContext({ user: somebody("ada") });
    const { lines } = keepJournal(ctx, `seed ${seed}`);
    const execution = { schema, document, variables, plan: () => executor, mostObjects: 100_000 };
    const result = await runOperation(ctx, execution, { isAlone: true });
    await turn();
    // graphql goes on below an object that is already null, until the result is complete or even longer.
    return { ...withoutRaces(result), calls: hasPropagated(result) ? [] : lines.toSorted() };
  };
  const planned = await run(plan);
  expect(unhandled, text).toEqual([]);
  expect(planned, `${text}\n${JSON.stringify(variables)}`).toEqual(await run(null));
  unhandled.length = 0;
  return true;
}

it(
  "asks the same gates and rules, opens the same dependencies and loads the same batches as graphql",
  () => compareRandomly(CASES, 1 / 3, compare),
  24 * 60 * 60_000,
);
