import type { Logger } from "kysely";
import { toError } from "../../core/describe-error.ts";
import type { SentStatement } from "./database.ts";
import { warnOfRepetition } from "./warn-of-repetition.ts";

/**
 * Kysely's log that tells a listener and warns of repeated statements, or `null` if it has nothing to do. An exception
 * in the listener becomes a process warning, because the statement was already sent.
 */
export function statementLog(onStatement: ((statement: SentStatement) => void) | undefined): Logger | null {
  const warn = warnOfRepetition();
  if (onStatement === undefined && warn === null) return null;
  return ({ query, queryDurationMillis }) => {
    warn?.(query.sql);
    if (onStatement === undefined) return;
    try {
      onStatement({ sql: query.sql, durationSeconds: queryDurationMillis / 1000 });
    } catch (error) {
      process.emitWarning(toError(error));
    }
  };
}
