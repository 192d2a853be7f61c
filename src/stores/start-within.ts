import { PorticoError } from "../core/portico-error.ts";
import { within } from "../core/within.ts";

/** How long an application waits for a server at startup. */
const START_MS = 5_000;

/**
 * Awaits the first connection of a role for a few seconds. Then it rejects with the error that stops startup.
 *
 * @param server the server in the message, such as `Redis at 127.0.0.1:6379`
 * @param cause returns why the last attempt failed
 */
export async function startWithin(
  role: string,
  server: string,
  connected: Promise<unknown>,
  cause: () => unknown,
): Promise<void> {
  // No other timer keeps the process running, and before it listens nothing else may: it would end without an error.
  const alive = setInterval(() => {}, START_MS);
  try {
    await within(START_MS, connected);
  } catch (error) {
    const sentence = `cannot start the ${role} role: no connection to ${server}`;
    throw new PorticoError("STORE_UNAVAILABLE", sentence, { status: 503, cause: cause() ?? error });
  } finally {
    clearInterval(alive);
  }
}
