import { isProduction } from "../env.ts";

/** The steps at which `npm run durable` kills a process. */
export type Failpoint =
  | "before-write"
  | "before-commit"
  | "after-commit"
  | "after-ring"
  | "relay-sampled"
  | "relay-settled"
  | "relay-announced"
  | "events-read"
  | "event-handled"
  | "position-stored";

/** The point that kills this process. Never set in production. */
const deadly = isProduction() ? undefined : process.env["PORTICO_FAILPOINT"];

/** Ends the process without warning if a test asked for it by the environment of the process. Does nothing in production. */
export function failpoint(name: Failpoint): void {
  if (deadly !== undefined && deadly === name && !isProduction() && --passes < 0) process.kill(process.pid, "SIGKILL");
}

/** The number of times that the point is passed before it kills. */
let passes = Number(process.env["PORTICO_FAILPOINT_PASSES"] ?? 0);
