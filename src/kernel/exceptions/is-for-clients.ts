import { isInstance } from "../../core/describe-error.ts";
import { PorticoError } from "../../core/portico-error.ts";
import { HttpException } from "./http-exception.ts";

/**
 * Whether clients may read the code and the message of an error: those of an HTTP exception, and of any error of Portico
 * that blames the request. Everything else stays in the log.
 */
export function isForClients(error: unknown): error is PorticoError {
  return isInstance(error, PorticoError) && (error.status < 500 || isInstance(error, HttpException));
}

/** Whether clients may learn that an error is an outage: status, code and `retry-after`, even if its message stays in the log. */
export function isOutage(error: unknown): error is PorticoError {
  return isInstance(error, PorticoError) && error.status === 503;
}
