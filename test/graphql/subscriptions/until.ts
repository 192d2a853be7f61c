import { vi } from "vitest";

/** Waits until it holds. */
export async function until(condition: () => boolean): Promise<void> {
  await vi.waitUntil(condition, { timeout: 60_000, interval: 5 });
}
