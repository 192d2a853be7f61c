import { setImmediate as immediately } from "node:timers/promises";
import { vi } from "vitest";

/**
 * Moves the fake timers of `vi.useFakeTimers`, millisecond by millisecond. In between it lets the event loop run, in which real
 * sockets are read and further timers are set.
 */
export async function passTime(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed++) {
    vi.advanceTimersByTime(1);
    await immediately();
    await immediately();
  }
}

/** Waits until it holds, while fake timers stand still. `expect.poll` and `vi.waitUntil` would move them. */
export async function untilWithoutTime(condition: () => boolean): Promise<void> {
  while (!condition()) await immediately();
}
