import { setTimeout as sleep } from "node:timers/promises";
import { PorticoError } from "../core/portico-error.ts";
import { withTimeout } from "../core/work/with-timeout.ts";

/** How long an application waits for a server at startup. */
const START_MS = 5_000;

const RETRY_MS = 100;

/**
 * Connects a role, again and again for a few seconds. Then it rejects with the error that stops startup.
 *
 * @param server the server in the message, such as `Redis at 127.0.0.1:6379`
 * @param connect resolves when the role can be used
 * @param cause returns why the last attempt failed, unless `connect` rejects with the reason
 */
export async function startWithin(
  role: string,
  server: string,
  connect: () => Promise<unknown>,
  cause: () => unknown,
): Promise<void> {
  // No other timer keeps the process running, and before it listens nothing else may: it would end without an error.
  const alive = setInterval(() => {}, START_MS);
  const over = new AbortController();
  let failure: unknown;
  const connected = async (): Promise<void> => {
    while (!over.signal.aborted) {
      try {
        return void (await connect());
      } catch (error) {
        failure = error;
        await sleep(RETRY_MS, undefined, { ref: false });
      }
    }
  };
  try {
    await withTimeout(START_MS, connected());
  } catch (error) {
    const sentence = `cannot start the ${role} role: no connection to ${server}`;
    throw new PorticoError("STORE_UNAVAILABLE", sentence, { status: 503, cause: failure ?? cause() ?? error });
  } finally {
    over.abort();
    clearInterval(alive);
  }
}
