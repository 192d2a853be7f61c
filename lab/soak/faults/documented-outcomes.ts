import type { Answer } from "../world.ts";
import { type FaultKind, networkFaults } from "./fault-windows.ts";

/** A request was refused or broken off in a way that is documented for the fault at that time. */
export class Excused extends Error {
  /** Whether the request may have been carried out all the same. */
  readonly mayBeDone: boolean;

  constructor(reason: string, mayBeDone: boolean) {
    super(reason);
    this.mayBeDone = mayBeDone;
  }
}

const OUTAGES: readonly FaultKind[] = ["redis", "postgres", "process", "pause", "full", ...networkFaults];
const OUTAGE_CODES: readonly unknown[] = ["SERVICE_UNAVAILABLE", "PUBSUB_GAP"];
const OUTAGE_CLOSES: readonly number[] = [1001, 1013, 4403];
const BROKEN = ["ECONNREFUSED", "ECONNRESET", "EPIPE"];

/** A failure that is documented for one kind of request only. */
export type Excuse = (status: number, faults: ReadonlySet<FaultKind>) => string | false;

/** Throws `Excused` for a documented failure, another error for anything but the expected status. */
export function judgeAnswer(
  { status, headers, text }: Answer,
  expected: number,
  faults: ReadonlySet<FaultKind>,
  excuse: Excuse = () => false,
): void {
  if (status === expected) return;
  const reason = excuse(status, faults);
  if (reason !== false) throw new Excused(reason, false);
  const isTimed = /^\d+$/.test(headers["retry-after"] ?? "");
  if (status === 503 && isTimed && hasOutage(faults)) throw new Excused("503", true);
  const lack = status === 503 && !isTimed ? " without Retry-After" : "";
  throw new Error(`${status}${lack}, not ${expected}: ${text.slice(0, 300)}`);
}

/** The error codes of a GraphQL response. */
export function codesOf(errors: unknown): readonly unknown[] {
  return ((errors ?? []) as readonly { readonly extensions?: { readonly code?: unknown } }[]).map(
    ({ extensions }) => extensions?.code,
  );
}

/** Judges the errors of a GraphQL response. */
export function judgeErrors(errors: unknown, faults: ReadonlySet<FaultKind>): void {
  if (errors === undefined) return;
  const codes = codesOf(errors);
  if (hasOutage(faults) && codes.length > 0 && codes.every((code) => OUTAGE_CODES.includes(code)))
    throw new Excused(String(codes[0]), true);
  throw new Error(`a GraphQL response with errors: ${JSON.stringify(errors).slice(0, 300)}`);
}

/** Judges a connection that broke before there was a response. Only a killed process breaks one. */
export function judgeBreak(error: unknown, faults: ReadonlySet<FaultKind>): never {
  const code = codeOf(error);
  if (!faults.has("process") || !BROKEN.includes(code)) throw error;
  throw new Excused(code, code !== "ECONNREFUSED");
}

/** Judges the code that a socket was closed with by the server. */
export function judgeClose(code: number, faults: ReadonlySet<FaultKind>): never {
  const isExcused =
    (hasOutage(faults) && OUTAGE_CLOSES.includes(code)) ||
    (faults.has("process") && code === 1006) ||
    (faults.has("clock") && code === 4403);
  if (isExcused) throw new Excused(`close ${code}`, false);
  throw new Error(`the socket was closed with ${code}`);
}

/** Whether a server was down, or could not be reached in time. */
export function hasOutage(faults: ReadonlySet<FaultKind>): boolean {
  return OUTAGES.some((kind) => faults.has(kind));
}

function codeOf(error: unknown): string {
  const { code, cause } = error as NodeJS.ErrnoException;
  return code ?? (cause === undefined ? "" : codeOf(cause));
}
