import { PorticoError } from "../../core/portico-error.ts";
import { unavailable } from "../../core/unavailable.ts";

/** The error of a statement: an outage is a 503, whatever the driver calls it. */
export function postgresError(error: unknown): unknown {
  if (error instanceof PorticoError) return error;
  if (isLost(error)) return unreachable(error);
  if (codeOf(error) === "22021") return unstorable(error);
  const sentence = outageOf(error);
  return sentence === undefined ? error : unavailable(sentence, error);
}

/** The server does not accept or keep connections. */
export function unreachable(cause: unknown): PorticoError {
  return unavailable("The database cannot be reached", cause);
}

/** Whether the server takes no writes: a primary that became a replica. */
export function isReadOnly(error: unknown): boolean {
  return codeOf(error) === "25006";
}

/**
 * Whether the connection is gone: closed by the server (class 08, 57P01 to 57P05, the idle limits of class 25), or torn.
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

/** Conditions that pass, and that no statement of the application is to blame for. */
function outageOf(error: unknown): string | undefined {
  const code = codeOf(error);
  if (code.startsWith("53")) return "The database has no resources left";
  if (code.startsWith("58")) return "The database failed to read or write a file";
  // A statement that asks not to wait for a lock gets the same code from another routine.
  if (code === "55P03" && (error as { readonly routine?: unknown }).routine !== "ProcessInterrupts") return undefined;
  return OUTAGES[code];
}

const OUTAGES: Readonly<Record<string, string>> = {
  "25006": "The database is read-only",
  "40001": "The database is busy: the transaction conflicted with another one",
  "40P01": "The database is busy: the transaction was chosen to end a deadlock",
  "55P03": "The database is busy: a lock was not given up in time",
  "57014": "The database cancelled the statement, which took too long",
};

/** character_not_in_repertoire: PostgreSQL cannot store one character that a JavaScript string can hold. */
function unstorable(cause: unknown): PorticoError {
  return new PorticoError("BAD_REQUEST", "A text has a NUL character in it, which the database cannot hold", {
    status: 400,
    cause,
  });
}

function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === "string" ? code : "";
}
