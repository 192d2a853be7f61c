/** A client of `pg`. */
interface PipelineClient {
  /** Whether it sends statements without waiting for the responses before them. Older versions don't have it. */
  pipeline?: boolean;
}

/** The statements that are being sent; `null` if each waits for the response to the one before it. */
let sending: { isPossible: boolean } | null = null;

/**
 * Sends a statement without waiting for the responses to the statements before it, if the client can, so that all of them take
 * one round trip. Until they have been answered, nothing else may use the connection.
 *
 * @param send calls the client before it first waits for something
 */
export function inPipeline<T>(send: () => T): { readonly sent: T; readonly isPipelined: boolean } {
  const outer = sending;
  const own = { isPossible: false };
  sending = own;
  try {
    const sent = send();
    return { sent, isPipelined: own.isPossible };
  } finally {
    sending = outer;
  }
}

/** The number of statements in the pipeline of each client. */
const waiting = new WeakMap<PipelineClient, number>();

/** Calls a client, in a pipeline if `inPipeline` asks for one. Cursors need a client without one. */
export function queryOf(client: PipelineClient, query: () => unknown): unknown {
  const count = waiting.get(client) ?? 0;
  if (sending === null || (client.pipeline !== false && count === 0)) return query();
  sending.isPossible = true;
  client.pipeline = true;
  waiting.set(client, count + 1);
  const result = query() as Promise<unknown>;
  const answered = (): void => {
    const others = (waiting.get(client) ?? 1) - 1;
    waiting.set(client, others);
    if (others === 0) client.pipeline = false;
  };
  result.then(answered, answered);
  return result;
}
