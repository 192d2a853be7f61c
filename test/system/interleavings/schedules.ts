import { setImmediate } from "node:timers/promises";
import { type Arbitrary, type Scheduler, scheduler } from "fast-check";

/** Lets everything run that waits for no scheduled step. */
export async function atRest(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await setImmediate();
}

/** Orders of scheduled steps. After each step everything else runs until it waits for another one. */
export function schedules(rest: () => Promise<void> = atRest): Arbitrary<Scheduler> {
  return scheduler({
    act: async (step) => {
      await step();
      await rest();
    },
  });
}

/** A point at which the scheduler decides who goes on. */
export function step(scheduler: Scheduler, label: string): Promise<void> {
  return scheduler.schedule(Promise.resolve(), label);
}
