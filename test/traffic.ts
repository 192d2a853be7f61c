import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";

/** Requests of several clients, one after another in each of them, until it is stopped. */
export interface Traffic<T> {
  /** Waits for so many responses that pass the test. */
  until(count: number, isMeant: (answer: T) => boolean): Promise<void>;
  /** Returns the responses to requests that are sent from now on, as soon as there are so many. */
  next(count: number): Promise<readonly T[]>;
  /** Ends it, and returns all responses. */
  stop(): Promise<readonly T[]>;
}

const CLIENTS = 10;
/** Each client sends at most 200 requests in a second. */
const PAUSE_MS = 5;

export function startTraffic<T>(ask: (request: number) => Promise<T>): Traffic<T> {
  const answers: { readonly request: number; readonly answer: T }[] = [];
  let sent = 0;
  const over = new AbortController();
  const running = Array.from({ length: CLIENTS }, async () => {
    while (!over.signal.aborted) {
      const request = sent++;
      answers.push({ request, answer: await ask(request) });
      await sleep(PAUSE_MS);
    }
  });
  const since = (first: number): T[] => answers.filter(({ request }) => request >= first).map(({ answer }) => answer);
  return {
    async until(count, isMeant) {
      await expect.poll(() => since(0).filter(isMeant).length).toBeGreaterThanOrEqual(count);
    },
    async next(count) {
      const first = sent;
      await expect.poll(() => since(first).length).toBeGreaterThanOrEqual(count);
      return since(first);
    },
    async stop() {
      over.abort();
      await Promise.all(running);
      return since(0);
    },
  };
}
