import { isInstance } from "../../core/describe-error.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import { inBackground } from "../../core/work/in-background.ts";
import type { BaseContext } from "../../kernel/context/http-context.ts";
import type { Budget } from "../../kernel/limits/budget.ts";
import type { Admitted } from "../admit/admitted.ts";
import { OperationOver } from "../operation/operation-over.ts";
import type { OperationResponse } from "../respond/operation-response.ts";
import type { LiveSubscription } from "../streams/live-subscription.ts";

/** The cost of an operation while cost analysis is off, and of one whose fields are free. */
const MIN_COST = 1;

/** Reserves the cost of an operation in the budget of its caller, runs it, and refunds what it did not use. */
export async function chargeFor<T extends OperationResponse | LiveSubscription>(
  budget: Budget,
  ctx: BaseContext,
  { execution, prepared }: Admitted,
  start: () => MaybePromise<T>,
): Promise<T> {
  const cost = Math.max(MIN_COST, execution.cost ?? MIN_COST);
  const charge = await budget.reserve(ctx, cost);
  try {
    const opened = await start();
    // With errors, the response does not show all the work: an error in a required field removes the data around it.
    const isShown = opened.kind === "response" && opened.body.errors === undefined && execution.cost !== null;
    const used = isShown ? (await prepared.actualCost(opened.body.data)) + (execution.unshown?.objects ?? 0) : cost;
    charge?.use(Math.max(MIN_COST, used));
    charge?.end();
    return opened;
  } catch (error) {
    if (isInstance(error, OperationOver)) {
      charge?.use(cost);
      inBackground(error.ended().then(() => charge?.end()));
    } else {
      // It was thrown before the operation ran.
      charge?.end();
    }
    throw error;
  }
}
