import type { Admission } from "../admit/admit.ts";
import type { Documents } from "../documents/documents.ts";
import type { Streaming } from "../streams/live-subscription.ts";

/** The parts of an endpoint that all of its operations share. */
export interface Pipeline extends Admission, Streaming {
  readonly documents: Documents;
}
