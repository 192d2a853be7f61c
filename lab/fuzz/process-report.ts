/** What a fuzzed process reports about the time since its last report. */
export interface ProcessReport {
  /** CPU time of the main thread, in milliseconds. Threads that hash passwords are not included. */
  readonly cpuMs: number;
  /** The longest time in which the event loop ran no timer, in milliseconds of CPU time, without garbage collection. */
  readonly delayMs: number;
  /** The longest garbage collection, in milliseconds. */
  readonly collectionMs: number;
  /** The open connections of clients. */
  readonly connections: number;
  /** The lines of the log. */
  readonly log: readonly string[];
  /** The bytes in use after a garbage collection; `null` unless it was requested. */
  readonly heap: number | null;
}

/** What the fuzzer asks of the process. */
export interface ReportOrder {
  readonly report: true;
  readonly collectsGarbage: boolean;
}
