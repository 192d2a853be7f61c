import { abortable } from "./abortable.ts";
import { PorticoClientError } from "./portico-client-error.ts";

const MIN_MS = 500;
const MAX_MS = 30_000;
const TEMPORARY =
  /^(NETWORK_ERROR|REQUEST_IN_PROGRESS|RATE_LIMITED|OVERLOADED|SHUTTING_DOWN|PUBSUB_GAP|STORE_FULL|.*_(UNAVAILABLE|TIMEOUT))$/;

/** Whether the same request may succeed later: the server is unreachable, overloaded or restarting. */
export function isTemporary(error: unknown): error is PorticoClientError {
  if (!(error instanceof PorticoClientError)) return false;
  return TEMPORARY.test(error.code) || error.status === 429 || error.status > 501;
}

/**
 * Waits before a retry: twice as long after each failure, up to 30 seconds, and at least as long as the server asked for. Half
 * of the time is random, so that the clients of a server that restarts do not return all at once.
 *
 * @param failures the number of failures in a row, at least 1
 */
export async function backOff(failures: number, error: PorticoClientError, signal?: AbortSignal): Promise<void> {
  const most = Math.min(MAX_MS, MIN_MS * 2 ** (failures - 1));
  const wait = Math.max(most / 2, (error.retryAfter ?? 0) * 1000) + (Math.random() * most) / 2;
  await abortable(new Promise<void>((done) => void setTimeout(done, wait)), signal);
}
