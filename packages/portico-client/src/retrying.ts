import { backOff, isTemporary } from "./backoff.ts";

/** Does work that may be repeated again after an outage, at most `retries` times. */
export async function retrying<T>(work: () => Promise<T>, retries = 5, signal?: AbortSignal): Promise<T> {
  for (let failures = 1; ; failures++)
    try {
      return await work();
    } catch (error) {
      if (!isTemporary(error) || failures > retries) throw error;
      await backOff(failures, error, signal);
    }
}
