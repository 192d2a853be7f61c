import { PorticoError } from "../../core/portico-error.ts";

/** The error for a statement that the guard cannot check. The message is for the log. */
export function unguarded(sentence: string): PorticoError {
  return new PorticoError("STATEMENT_UNGUARDED", `The guard of the database refused a statement: ${sentence}`);
}

/** The error for a statement on a guarded table without a caller. */
export function withoutCaller(table: string): PorticoError {
  return new PorticoError(
    "CALLER_REQUIRED",
    `As whom? The guard of the database protects ${table}, and outside a request there is no caller: use database.as(user), or database.asSystem("why")`,
  );
}
