import { setTimeout as sleep } from "node:timers/promises";

/** Waits until it holds. */
export async function until(condition: () => boolean, ms = 20_000): Promise<void> {
  const end = Date.now() + ms;
  while (!condition()) {
    if (Date.now() > end) throw new Error("it did not happen in time");
    await sleep(5);
  }
}
