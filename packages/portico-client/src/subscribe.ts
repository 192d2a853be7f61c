import { backOff, isTemporary } from "./backoff.ts";
import { PorticoClientError } from "./portico-client-error.ts";
import { type GraphQLBody, graphqlError } from "./read-error.ts";
import { CONNECTED, type Connect, type Resuming, type SubscriptionEvent } from "./subscription-event.ts";
import type { TokenKeeper } from "./token-keeper.ts";

/** The options of a subscription. */
export interface SubscribeOptions {
  /** How many connections may fail in a row before the subscription does. @default Infinity */
  readonly retries?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A connection that lasted as long as this worked, even if no event arrived. */
const WORKED_MS = 10_000;

/** Connects, reads events, and connects again until the subscription ends. Each connection has a token that is valid. */
export async function* subscribe(
  connect: Connect,
  tokens: Pick<TokenKeeper, "token" | "renew"> | undefined,
  { retries = Infinity, signal = new AbortController().signal }: SubscribeOptions,
  resuming: Resuming,
): AsyncGenerator<SubscriptionEvent<unknown>, void, void> {
  let failures = 0;
  let isFirst = true;
  let isRenewed = false;
  for (;;) {
    const wasFirst: boolean = isFirst;
    let token: string | null = null;
    let worksFrom = Infinity;
    try {
      token = (await tokens?.token(signal)) ?? null;
      for await (const message of connect(token, signal)) {
        if (message === CONNECTED) {
          if (!isFirst && !resuming.position) yield { data: null, error: null, gap: true };
          isFirst = false;
          worksFrom = Date.now() + WORKED_MS;
          continue;
        }
        const { data, errors, extensions } = message as GraphQLBody;
        resuming.position = extensions?.position ?? resuming.position;
        if (data === errors) continue;
        if (data === undefined) {
          const error = graphqlError(message as GraphQLBody);
          // The server did not begin to listen for events, so a gap is only reported if there was one before.
          if (isDenied(error)) isFirst = wasFirst;
          throw error;
        }
        worksFrom = 0;
        yield { data, error: errors === undefined ? null : graphqlError(message as GraphQLBody), gap: false };
      }
      return;
    } catch (error) {
      signal.throwIfAborted();
      if (Date.now() >= worksFrom) {
        failures = 0;
        isRenewed = false;
      }
      // The next connection begins anew, with a gap.
      if ((error as PorticoClientError).code === "POSITION_REFUSED") resuming.position = undefined;
      else if (isDenied(error) && tokens !== undefined && token !== null && !isRenewed) {
        isRenewed = true;
        if ((await tokens.renew(token, signal)) === null) throw error;
      } else if (isTemporary(error) && ++failures <= retries) await backOff(failures, error, signal);
      else throw error;
    }
  }
}

/** Whether the credential of the connection was not accepted, or has ended. A denied field has an entry in `errors`. */
function isDenied(error: unknown): boolean {
  if (!(error instanceof PorticoClientError)) return false;
  return error.code === "UNAUTHENTICATED" || (error.code === "FORBIDDEN" && error.errors.length === 0);
}
