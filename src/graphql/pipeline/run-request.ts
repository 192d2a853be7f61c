import { type ExecutionResult, OperationTypeNode } from "graphql";
import { andThen, type MaybePromise, orElse } from "../../core/maybe-promise.ts";
import { workTurns } from "../../core/work/event-loop-turns.ts";
import type { BaseContext } from "../../kernel/context/http-context.ts";
import { budgetOf } from "../../kernel/limits/budget.ts";
import { admit } from "../admit/admit.ts";
import type { Admitted, Arrival, FindingsSoFar } from "../admit/admitted.ts";
import type { ResolvedDocument } from "../documents/documents.ts";
import { handleExceptions } from "../errors/handle-exceptions.ts";
import { type Observation, observe } from "../hooks/observation.ts";
import type { RequestParams } from "../request/request-params.ts";
import { type OperationResponse, responseTo, responseToError } from "../respond/operation-response.ts";
import { runOperation } from "../run/run-operation.ts";
import { type LiveSubscription, openSubscription } from "../streams/live-subscription.ts";
import { chargeFor } from "./charge-for.ts";
import type { Pipeline } from "./pipeline.ts";
import { runOnce } from "./run-once.ts";

/** Runs one operation for a transport without streams: a subscription is rejected. */
export function runRequest(
  pipeline: Pipeline,
  ctx: BaseContext,
  read: () => RequestParams,
  arrival: Omit<Arrival, "takes">,
): MaybePromise<OperationResponse> {
  return openRequest(pipeline, ctx, read, { ...arrival, takes: "response" }) as MaybePromise<OperationResponse>;
}

/**
 * Runs one operation from its parameters to its response, or to its stream if it is a subscription: document, limits,
 * validation, variables, cost, execution, hooks. Every transport calls this, so that none can omit a step. The result is there
 * at once if nothing has to be awaited.
 */
export function openRequest(
  pipeline: Pipeline,
  ctx: BaseContext,
  read: () => RequestParams,
  arrival: Arrival,
): MaybePromise<OperationResponse | LiveSubscription> {
  const observation = observe(pipeline.hooks, ctx.services);
  const findings: FindingsSoFar = {
    operationName: null,
    operationType: null,
    prepared: null,
    cost: null,
    extensions: NO_EXTENSIONS,
    trace: observation.trace,
  };
  return observation.run(() =>
    andThen(
      orElse(
        () => open(pipeline, ctx, read, arrival, observation, findings),
        (error) => responseToError(error, ctx, pipeline.errorFormat, findings),
      ),
      (opened) => {
        if (opened.kind === "response") observation.end(opened.body, findings);
        return opened;
      },
    ),
  );
}

const NO_EXTENSIONS: FindingsSoFar["extensions"] = Object.freeze({});

function open(
  pipeline: Pipeline,
  ctx: BaseContext,
  read: () => RequestParams,
  arrival: Arrival,
  observation: Observation,
  findings: FindingsSoFar,
): MaybePromise<OperationResponse | LiveSubscription> {
  const used = arrival.isFurther === true ? ctx.identity.credential?.use?.() : undefined;
  return andThen(used, () =>
    andThen(workTurns.take(), () =>
      andThen(admitRequest(pipeline, ctx, read(), arrival, findings), (admitted) => {
        const budget = budgetOf.of(ctx.services);
        const start = (): MaybePromise<OperationResponse | LiveSubscription> =>
          admitted.prepared.operation.operation === OperationTypeNode.SUBSCRIPTION
            ? subscribe(pipeline, ctx, admitted, arrival, observation, findings)
            : run(pipeline, ctx, admitted, arrival, findings);
        return budget === null ? start() : chargeFor(budget, ctx, admitted, start);
      }),
    ),
  );
}

/** A valid operation name: the request may contain any text. */
const NAME = /^[A-Za-z_]\w{0,199}$/;

/** Finds the document of a request, and admits the operation in it. */
function admitRequest(
  pipeline: Pipeline,
  ctx: BaseContext,
  params: RequestParams,
  arrival: Arrival,
  findings: FindingsSoFar,
): MaybePromise<Admitted> {
  const { documents, hooks } = pipeline;
  // A subscription keeps them in memory while it runs, so they are kept only for hooks.
  if (!hooks.isEmpty) findings.extensions = params.extensions;
  const { operationName } = params;
  findings.operationName = operationName !== null && NAME.test(operationName) ? operationName : null;
  return andThen(documents.find(params, ctx), (document: ResolvedDocument) =>
    admit(pipeline, document, params, arrival, findings),
  );
}

function run(
  { timeoutMs, errorFormat }: Pipeline,
  ctx: BaseContext,
  admitted: Admitted,
  arrival: Arrival,
  findings: FindingsSoFar,
): MaybePromise<OperationResponse> {
  // A request over HTTP has the time limit of its route.
  const { execution } = admitted;
  const timed = ctx.kind === "http" ? execution : { ...execution, timeoutMs };
  const respond = (result: ExecutionResult): MaybePromise<OperationResponse> =>
    result.errors === undefined
      ? responseTo(result, ctx, errorFormat, findings)
      : andThen(handleExceptions(result, ctx), (handled) => responseTo(handled, ctx, errorFormat, findings));
  const { key } = admitted;
  return key === null
    ? andThen(runOperation(ctx, timed, arrival), respond)
    : runOnce(ctx, { ...admitted, execution: timed, key }, arrival, respond);
}

async function subscribe(
  pipeline: Pipeline,
  ctx: BaseContext,
  admitted: Admitted,
  arrival: Arrival,
  observation: Observation,
  findings: FindingsSoFar,
): Promise<OperationResponse | LiveSubscription> {
  await arrival.beforeStream?.(ctx);
  // Variables are coerced again for each event, as by graphql: a resolver may write to its input objects.
  const { position } = admitted;
  const execution = {
    ...admitted.execution,
    coerced: null,
    ...(position === undefined ? {} : { resumeAfter: position }),
  };
  return openSubscription(pipeline, ctx, { ...admitted, execution }, observation, findings);
}
