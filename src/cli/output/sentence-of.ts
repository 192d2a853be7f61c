import { describeError, isInstance } from "../../core/describe-error.ts";
import { PorticoError } from "../../core/portico-error.ts";

/** The message of an error for the person at the terminal, without a stack. */
export function sentenceOf(error: unknown): string {
  if (!isInstance(error, Error)) return describeError(error);
  const { message, cause } = error;
  // kysely and redis are optional peer dependencies.
  const missing = /Cannot find package '([^']+)'/.exec(message)?.[1];
  if (missing !== undefined) return `the package "${missing}" is required. Run: npm install ${missing}`;
  if (NO_TABLE.test(message)) return "the tables of Portico are missing or out of date. Run: portico migrate up";
  // The message of a 503 alone does not help an operator.
  const isOutage = isInstance(error, PorticoError) && error.status === 503;
  return isOutage && isInstance(cause, Error) ? `${message}: ${reasonOf(cause)}` : message;
}

/** The address of the documentation about an error or its cause, if there is one. */
export function docsOf(error: unknown): string | undefined {
  if (!isInstance(error, Error)) return undefined;
  return isInstance(error, PorticoError) ? error.docs : docsOf(error.cause);
}

/** Some errors of connections have a code and no message. */
function reasonOf(error: Error): string {
  return sentenceOf(error) || (error as { code?: string }).code || error.name;
}

const NO_TABLE = /relation "(?:users|portico_\w+)" does not exist|no such table: (?:users|portico_\w+)/;
