import type { FailoverFleet, Place } from "./failover-fleet.ts";

/** Servers, and what goes wrong with them. */
export interface Scenario {
  readonly name: string;
  start(): Promise<Broken>;
}

interface Broken {
  /** Where each of the processes finds the servers, by its number. */
  place(process: number): Place;
  /** Makes it go wrong. Returns when the fault is over, or at once if it does not end by itself. */
  fail(fleet: FailoverFleet): Promise<void>;
  remove(): Promise<void>;
}
