import { AsyncLocalStorage } from "node:async_hooks";

const deadlines = new AsyncLocalStorage<number>();

/** Runs `work`, whose statements use this deadline instead of the database's. 0 disables the deadline. */
export function withDeadline<T>(deadlineMs: number, work: () => T): T {
  return deadlines.run(deadlineMs, work);
}

/** The deadline that `withDeadline` set around the caller, in milliseconds. */
export function deadlineHere(): number | undefined {
  return deadlines.getStore();
}
