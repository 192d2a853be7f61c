import { isRefused, type OperationAnswer } from "../execute/answer.ts";
import type { LiveSubscription } from "./live-subscription.ts";

/** The answer to a query, for a client that takes a stream alone: one event. */
export function onlyAnswer(answer: OperationAnswer): LiveSubscription {
  return {
    start(sink) {
      if (isRefused(answer)) return sink.error(answer.text);
      void sink.next(answer.text);
      sink.complete();
    },
    async leave() {},
  };
}
