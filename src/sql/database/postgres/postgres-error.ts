import { isInstance } from "../../../core/describe-error.ts";
import { PorticoError } from "../../../core/portico-error.ts";
import { unavailable } from "../../../core/unavailable.ts";

/** Converts the error of a statement. An outage is a 503, whatever error the driver throws. */
export function postgresError(error: unknown): unknown {
  if (isInstance(error, PorticoError)) return error;
  if (isLost(error)) return unreachable(error);
  if (codeOf(error) === "22021") return unstorable(error);
  const sentence = outageOf(error);
  return sentence === undefined ? error : unavailable(sentence, error);
}

/** The server does not accept or keep connections. */
export function unreachable(cause: unknown): PorticoError {
  return unavailable("The database is unreachable", cause);
}

/** Whether the server rejects writes, because a primary became a replica. */
export function isReadOnly(error: unknown): boolean {
  return codeOf(error) === "25006";
}

/** Whether the disk of the server is full. */
export function isFull(error: unknown): boolean {
  return codeOf(error) === "53100";
}

/**
 * Whether the connection was lost: closed by the server (class 08, 57P01 to 57P05, the idle limits of class 25) or
 * broken.
 */
export function isLost(error: unknown): boolean {
  const { message } = (error ?? {}) as { readonly message?: unknown };
  if (/^(?:08\w{3}|57P0[1-5]|25P0[34]|ECONN\w+|E(?:HOST|NET)(?:UNREACH|DOWN)|EPIPE|ETIMEDOUT)$/.test(codeOf(error)))
    return true;
  return (
    typeof message === "string" &&
    /^(?:Connection terminated|Client has encountered a connection error|Client was closed)/.test(message)
  );
}

/** Temporary conditions that the application's statements did not cause. */
function outageOf(error: unknown): string | undefined {
  const code = codeOf(error);
  if (code.startsWith("53")) return "The database is out of resources";
  if (code.startsWith("58")) return "The database failed to read or write a file";
  // A statement with NOWAIT gets the same code from another routine.
  if (code === "55P03" && (error as { readonly routine?: unknown }).routine !== "ProcessInterrupts") return undefined;
  return OUTAGES[code];
}

const OUTAGES: Readonly<Record<string, string>> = {
  "25006": "The database is read-only",
  "40001": "The database is busy: the transaction conflicted with another transaction",
  "40P01": "The database is busy: the transaction was aborted to resolve a deadlock",
  "55P03": "The database is busy: timed out waiting for a lock",
  "57014": "The database cancelled the statement because it took too long",
};

/** character_not_in_repertoire: a JavaScript string can contain one character that PostgreSQL cannot store. */
function unstorable(cause: unknown): PorticoError {
  return new PorticoError("BAD_REQUEST", "A text contains a NUL character, which the database cannot store", {
    status: 400,
    cause,
  });
}

function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === "string" ? code : "";
}
