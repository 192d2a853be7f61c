import { createHash } from "node:crypto";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import type { HttpContext } from "../../kernel/context/http-context.ts";
import type { Outgoing } from "../../kernel/context/messages.ts";
import { doOnce, REPLAYED } from "../../kernel/idempotency/do-once.ts";
import type { Idempotent } from "../../kernel/idempotency/idempotent.ts";
import { keyInHeader } from "../../kernel/idempotency/key-in-header.ts";
import { mayBeStored } from "../../kernel/idempotency/may-be-stored.ts";
import type { KeptResponse } from "../../kernel/idempotency/seal-response.ts";
import { statusOf } from "./respond.ts";

/** Does the work of a route once for all requests with one `Idempotency-Key`. Without the header, it does the work. */
export function runOnce(ctx: HttpContext, idempotent: Idempotent, work: () => MaybePromise<void>): MaybePromise<void> {
  const key = keyInHeader(ctx.exchange.headers["idempotency-key"]);
  return key === null ? work() : runKeyed(ctx, idempotent, key, work);
}

async function runKeyed(
  ctx: HttpContext,
  idempotent: Idempotent,
  key: string,
  work: () => MaybePromise<void>,
): Promise<void> {
  // After a timeout, the context has another response, which must not be stored.
  const { outgoing } = ctx;
  await doOnce<void>(ctx, idempotent, {
    key,
    request: await digestOf(ctx),
    run: async (keep) => {
      await work();
      keep(() => storable(ctx, outgoing));
    },
    replay: (kept) => write(outgoing, kept),
  });
}

/** The query may be sent in another order by a proxy, but never by a retry. */
async function digestOf({ exchange, incoming }: HttpContext): Promise<string> {
  const digest = createHash("sha256").update(`${exchange.method} ${exchange.target}\n`);
  if (!incoming.isBodyMissing) digest.update(await incoming.bytes());
  return digest.digest("base64");
}

/** Called when the middleware has run too. The body is serialized once, for the table and for the client. */
function storable(ctx: HttpContext, outgoing: Outgoing): Pick<KeptResponse, "status" | "headers" | "body"> {
  const { body, headers } = outgoing;
  const status = statusOf(outgoing);
  let text: string | null = body?.kind === "none" ? "" : null;
  if (body?.kind === "json") {
    text = JSON.stringify(body.value) ?? "null";
    outgoing.body = { kind: "plain", value: text, type: "application/json; charset=utf-8" };
  }
  return { status, headers, body: mayBeStored(ctx, headers) ? text : null };
}

/** Headers that the middleware sets anew for this request stay. */
function write(outgoing: Outgoing, { status, headers, body }: KeptResponse & { readonly body: string }): void {
  outgoing.code = status;
  outgoing.headers = { ...(headers as Outgoing["headers"]), ...REPLAYED, ...outgoing.headers };
  outgoing.body =
    body === "" ? { kind: "none" } : { kind: "plain", value: body, type: "application/json; charset=utf-8" };
}
