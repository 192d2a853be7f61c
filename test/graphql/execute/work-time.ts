import { afterEach, beforeEach, vi } from "vitest";
import { workTurns } from "../../../src/core/work/event-loop-turns.ts";
import { Slice } from "../../../src/core/work/slice.ts";

const look = workTurns.isOver.bind(workTurns);
let most = 0;
let looks = 0;
let pauses = 0;

/** Call it in each file that uses the functions below: files that share a process evaluate this one only once. */
export function controlWorkTime(): void {
  beforeEach(() => {
    vi.spyOn(workTurns, "isOver").mockImplementation(() => {
      looks++;
      const isReallyOver = look();
      return most === 0 ? isReallyOver : looks >= most;
    });
    vi.spyOn(Slice.prototype, "rest").mockImplementation(async () => {
      pauses++;
      await workTurns.take();
      looks = 0;
    });
  });
  afterEach(() => {
    vi.restoreAllMocks();
    workTime(0);
  });
}

/** Sets, until the end of the test, how often long work may look at the clock before its slice is over. 0 is by the clock. */
export function workTime(mostLooks: number): void {
  most = mostLooks;
  looks = 0;
}

/** How often long work has looked at the clock since `workTime` was called, or since the last pause. */
export function looksAtClock(): number {
  return looks;
}

/** How often long work has paused. */
export function pausesSoFar(): number {
  return pauses;
}
