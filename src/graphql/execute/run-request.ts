import { OperationTypeNode } from "graphql";
import type { BaseContext } from "../../http/context/http-context.ts";
import { type Observation, observe } from "../hooks/observation.ts";
import {
  type LiveSubscription,
  openSubscription,
  type SubscriptionPipeline,
} from "../subscriptions/live-subscription.ts";
import type { RequestParams } from "../transport/request-params.ts";
import { type Arrival, admit, type FindingsSoFar } from "./admit.ts";
import { type OperationResponse, responseTo, responseToError } from "./operation-response.ts";
import { runOperation } from "./run-operation.ts";

/** Runs one operation for a transport without streams: a subscription is rejected. */
export async function runRequest(
  pipeline: SubscriptionPipeline,
  ctx: BaseContext,
  read: () => RequestParams,
  arrival: Omit<Arrival, "takes">,
): Promise<OperationResponse> {
  return (await openRequest(pipeline, ctx, read, { ...arrival, takes: "response" })) as OperationResponse;
}

/**
 * Runs one operation from its parameters to its response, or to its stream if it is a subscription: document, limits,
 * validation, variables, cost, execution, hooks. Every transport calls this, so that none can omit a step.
 */
export function openRequest(
  pipeline: SubscriptionPipeline,
  ctx: BaseContext,
  read: () => RequestParams,
  arrival: Arrival,
): Promise<OperationResponse | LiveSubscription> {
  const observation = observe(pipeline.hooks, ctx.services);
  return observation.run(async () => {
    const { trace } = observation;
    const findings: FindingsSoFar = {
      operationName: null,
      operationType: null,
      prepared: null,
      cost: null,
      extensions: {},
      trace,
    };
    const opened = await open(pipeline, ctx, read, arrival, observation, findings);
    if (opened.kind === "response") observation.end(opened.body, findings);
    return opened;
  });
}

async function open(
  pipeline: SubscriptionPipeline,
  ctx: BaseContext,
  read: () => RequestParams,
  arrival: Arrival,
  observation: Observation,
  findings: FindingsSoFar,
): Promise<OperationResponse | LiveSubscription> {
  const { timeoutMs } = pipeline;
  try {
    if (arrival.isFurther === true) await ctx.identity.credential?.use?.();
    const admitted = await admit(pipeline, ctx, read, arrival, findings);
    if (admitted.prepared.operation.operation === OperationTypeNode.SUBSCRIPTION) {
      await arrival.beforeStream?.();
      return await openSubscription(pipeline, ctx, admitted, observation, findings);
    }
    const execution = ctx.kind === "http" ? admitted.execution : { ...admitted.execution, timeoutMs };
    const result = await runOperation(ctx, execution, arrival);
    return responseTo(result, ctx, pipeline.isDebug, findings);
  } catch (error) {
    return responseToError(error, ctx, pipeline.isDebug, findings);
  }
}
