import { hash } from "node:crypto";
import { type ExecutionResult, GraphQLError, type GraphQLResolveInfo } from "graphql";
import { isInstance } from "../../core/describe-error.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import { readJson } from "../../core/read-json.ts";
import type { BaseContext } from "../../kernel/context/http-context.ts";
import { HttpException } from "../../kernel/exceptions/http-exception.ts";
import { alreadyDone, doOnce, REPLAYED } from "../../kernel/idempotency/do-once.ts";
import type { Idempotent } from "../../kernel/idempotency/idempotent.ts";
import { mayBeStored } from "../../kernel/idempotency/may-be-stored.ts";
import type { Admitted, Arrival } from "../admit/admitted.ts";
import { idempotentOf } from "../declare/fields/idempotent-extensions.ts";
import { rootCause } from "../errors/root-cause.ts";
import type { OperationResponse, ResponseBody } from "../respond/operation-response.ts";
import { runOperation } from "../run/run-operation.ts";
import { rootNodes } from "../selection/root-nodes.ts";

/** A mutation with an idempotency key. */
type Keyed = Admitted & { readonly key: string };
type Respond = (result: ExecutionResult) => MaybePromise<OperationResponse>;

/** Runs a mutation once for all requests with its key. A response with partial errors is stored with them. */
export async function runOnce(
  ctx: BaseContext,
  admitted: Keyed,
  arrival: Arrival,
  respond: Respond,
): Promise<OperationResponse> {
  const { execution, source, key } = admitted;
  const { variables = {}, operationName = null } = execution;
  return doOnce(ctx, idempotentIn(admitted), {
    key,
    request: hash("sha256", JSON.stringify(["graphql", source, operationName, variables]), "base64"),
    run: async (keep) => {
      let shown: { readonly result: ExecutionResult; readonly response: OperationResponse } | undefined;
      const beforeCommit = async (result: ExecutionResult, refused: ReadonlySet<string | number>): Promise<void> => {
        const response = await respond(result);
        shown = { result, response };
        const fields = Object.keys(result.data ?? {}).filter((name) => !refused.has(name));
        keep(() => {
          const body = mayBeStored(ctx, ctx.outgoing.headers) ? response.text : null;
          return { status: response.status, headers: {}, body, fields };
        });
      };
      const result = await runOperation(ctx, { ...execution, beforeCommit }, arrival);
      return shown?.result === result ? shown.response : respond(result);
    },
    replay: async ({ status, body, fields }) => {
      const denied = await askGates(ctx, admitted, fields);
      if (denied !== null) return respond(denied);
      // For the hooks. A body with too many objects for the parser is sent all the same.
      const { value = { data: null } } = readJson(body);
      return { kind: "response", status, headers: REPLAYED, text: body, body: value as ResponseBody };
    },
  });
}

/** All root fields of the operation must share one transaction, in which the response is stored. */
function idempotentIn({ execution, prepared }: Keyed): Idempotent {
  const { schema, document } = execution;
  const fields = schema.getMutationType()?.getFields() ?? {};
  const names = [...rootNodes(document, prepared.operation).values()].map(({ name }) => name.value);
  const declared = names.filter((name) => name in fields).map((name) => [name, idempotentOf(fields[name])] as const);
  const shared = declared[0]?.[1];
  const stranger = declared.find(([, idempotent]) => idempotent === undefined || idempotent.opener !== shared?.opener);
  if (shared !== undefined && stranger === undefined) return shared;
  throw new HttpException(400, refusal(stranger?.[0], stranger?.[1] !== undefined), {
    code: "IDEMPOTENCY_NOT_SUPPORTED",
  });
}

function refusal(name: string | undefined, hasOther: boolean): string {
  if (name === undefined) return "This operation accepts no idempotency key";
  return hasOther
    ? `The mutation ${name} cannot share an idempotency key with the mutations before it: send it on its own`
    : `The mutation ${name} accepts no idempotency key: send it without one, and do not retry it`;
}

/** Behind the gates of a field: it may still be run by its caller. */
class GatesPassed extends Error {}

/** Returns the denials unless the gates still open for all fields that ran. */
async function askGates(
  ctx: BaseContext,
  { execution }: Keyed,
  ran: readonly string[],
): Promise<ExecutionResult | null> {
  const open = new Set<string>();
  const endsAtGates = ({ path }: GraphQLResolveInfo): never => {
    open.add(String(path.key));
    throw new GatesPassed();
  };
  // The outcome of these questions must not become that of the request.
  const { data = null, errors = [] } = await runOperation(ctx, { ...execution, endsAtGates }, { isAlone: false });
  if (ran.every((name) => name === "__typename" || open.has(name))) return null;
  return { data, errors: errors.map((error) => (isInstance(rootCause(error), GatesPassed) ? notShown(error) : error)) };
}

/** The error of a field that is not denied, in a response with one that is. */
function notShown({ path, nodes }: GraphQLError): GraphQLError {
  const originalError = alreadyDone("a gate of another field is closed now, so its response is not sent again");
  return new GraphQLError(originalError.message, { path: path ?? null, nodes: nodes ?? null, originalError });
}
