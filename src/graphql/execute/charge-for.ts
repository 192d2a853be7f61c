import type { MaybePromise } from "../../core/maybe-promise.ts";
import type { BaseContext } from "../../http/context/http-context.ts";
import type { Budget } from "../../http/limits/budget.ts";
import { OperationOver } from "../operation/operation-over.ts";
import type { LiveSubscription } from "../subscriptions/live-subscription.ts";
import type { Admitted } from "./admit.ts";
import type { OperationResponse } from "./operation-response.ts";

/** The cost of an operation while cost analysis is off, and of one whose fields are free. */
const LEAST_COST = 1;

/** Reserves the cost of an operation in the budget of its caller, runs it, and refunds what it did not use. */
export async function chargeFor<T extends OperationResponse | LiveSubscription>(
  budget: Budget,
  ctx: BaseContext,
  { execution, prepared }: Admitted,
  start: () => MaybePromise<T>,
): Promise<T> {
  const cost = Math.max(LEAST_COST, execution.cost ?? LEAST_COST);
  const charge = await budget.reserve(ctx, cost);
  try {
    const opened = await start();
    // With errors, the response does not show all the work: an error in a required field removes the data around it.
    const isShown = opened.kind === "response" && opened.body.errors === undefined && execution.cost !== null;
    charge?.use(isShown ? Math.max(LEAST_COST, prepared.realCost(opened.body.data)) : cost);
    charge?.end();
    return opened;
  } catch (error) {
    if (error instanceof OperationOver) {
      charge?.use(cost);
      void error.ended().then(() => charge?.end());
    } else {
      // It was thrown before the operation ran.
      charge?.end();
    }
    throw error;
  }
}
