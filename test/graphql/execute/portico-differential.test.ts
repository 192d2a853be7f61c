import { setImmediate as turn } from "node:timers/promises";
import { type ExecutionResult, type GraphQLSchema, type OperationDefinitionNode, parse, validate } from "graphql";
import { afterAll, expect, it } from "vitest";
import { Slice } from "../../../src/core/work/slice.ts";
import { Plan } from "../../../src/graphql/execute/plan/plan.ts";
import { rollBackMutation } from "../../../src/graphql/run/roll-back-mutation.ts";
import { runOperation } from "../../../src/graphql/run/run-operation.ts";
import { httpContext, userNamed } from "../ask.ts";
import { Chance } from "./chance.ts";
import { compareRandomly } from "./compare-randomly.ts";
import { randomOperation } from "./random-operation.ts";
import { keepJournal, randomPorticoSchema } from "./random-portico-schema.ts";
import { hasPropagated, racedErrors, seen } from "./same-result.ts";
import { unhandledRejections } from "./unhandled-rejections.ts";

const unhandled = unhandledRejections();
const schemas = new Map<number, GraphQLSchema>();
// A pause, which depends on the speed of the machine, would decide which promise settles first.
const isOver = Object.getOwnPropertyDescriptor(Slice.prototype, "isOver") as PropertyDescriptor;
Slice.prototype.isOver = () => false;
afterAll(() => {
  Object.defineProperty(Slice.prototype, "isOver", isOver);
});

/** How often each operation is executed. */
const TIMES = 4;

/** Runs one operation with and without a plan, several times. Returns how many results were compared. */
async function compare(seed: number): Promise<number> {
  const chance = new Chance(`portico ${seed}`);
  const which = chance.below(100);
  const schema = schemas.get(which) ?? randomPorticoSchema(`portico schema ${which}`);
  schemas.set(which, schema);
  const { text, variables } = randomOperation(schema, chance);
  const document = parse(text);
  if (validate(schema, document).length > 0) return 0;
  const plan = Plan.compile(schema, document, document.definitions[0] as OperationDefinitionNode, {
    hotAfter: chance.pick([0, 2]),
  });
  for (let index = 0; index < TIMES; index++) {
    const given = variables();
    const run = async (executor: Plan | null): Promise<Outcome> => {
      const ctx = httpContext({ user: userNamed("ada") });
      const { lines } = keepJournal(ctx, `seed ${seed} ${index}`);
      const execution = { schema, document, variables: given, plan: () => executor, mostObjects: 100_000 };
      const result = await runOperation(ctx, execution, { isAlone: true });
      await turn();
      // graphql goes on below an object that is already null, until the result is complete or even longer.
      const calls = hasPropagated(result) ? "" : lines.toSorted().join("\n");
      return { result, calls, opened: lines.includes("open"), undone: () => rollBackMutation(result, execution) };
    };
    const ours = await run(plan);
    if (unhandled.length > 0) throw new Error(`${text} left rejections unhandled: ${unhandled.map(String).join()}`);
    const theirs = await run(null);
    unhandled.length = 0;
    expectSame(
      undoneLike(theirs, ours),
      undoneLike(ours, theirs),
      `${text}\n${JSON.stringify(given)}\nexecution ${index}`,
    );
  }
  return TIMES;
}

interface Outcome {
  readonly result: ExecutionResult;
  readonly calls: string;
  /** Whether a dependency was opened. */
  readonly opened: boolean;
  /** The result if the operation is rolled back. */
  readonly undone: () => ExecutionResult;
}

/**
 * A mutation that fails is rolled back if it has opened a dependency. One that a field opens below an object that is already null
 * is opened or not, depending on how many promise callbacks come before the end of the operation.
 */
function undoneLike(other: Outcome, outcome: Outcome): Outcome {
  const isOther = other.opened && !outcome.opened && hasPropagated(outcome.result) && isUndone(other.result);
  return isOther ? { ...outcome, result: outcome.undone() } : outcome;
}

function isUndone({ errors = [] }: ExecutionResult): boolean {
  return errors.some(({ message }) => message === "The operation was rolled back");
}

/** Which promises settle in the same turn depends on the batches of the loaders, so all of them may race. */
function expectSame(ours: Outcome, theirs: Outcome, facts: string): void {
  if (ours.calls === theirs.calls && racedErrors(ours.result, theirs.result) !== null) return;
  expect([seen(ours.result), ours.calls], facts).toEqual([seen(theirs.result), theirs.calls]);
}

it(
  "asks the same gates and rules, opens the same dependencies and loads the same batches as graphql",
  async () => {
    expect(await compareRandomly(3_000, compare)).toBeGreaterThan(0);
  },
  24 * 60 * 60_000,
);
