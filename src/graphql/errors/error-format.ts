import type { BaseContext } from "../../kernel/context/http-context.ts";
import { logFailure } from "../../kernel/context/log-failure.ts";
import type { PorticoRequest } from "../../kernel/context/portico-request.ts";
import type { FormattedError } from "./formatted-error.ts";

/** The circumstances of an error, for `Graph.formatError`. */
export interface ErrorDetails {
  /** The code of the error, such as `UNAUTHENTICATED`. */
  readonly code: string;
  /** The path of the field that failed; `null` if the operation was rejected before it ran. */
  readonly path: readonly (string | number)[] | null;
  /** The request, for its headers. A shared subscription has that of the client that opened it. */
  readonly request: PorticoRequest;
  /** The error that was thrown; `null` if its message is masked, unless `unmasked` is set. */
  readonly error: unknown;
}

/** Returns the message and the extensions to send instead. Either of them may be left out. */
export type ErrorFormatter = (
  shown: FormattedError,
  details: ErrorDetails,
) => { readonly message?: string; readonly extensions?: Readonly<Record<string, unknown>> };

/** A formatter that receives masked errors as well. Clients receive everything that it returns about them. */
export interface UnmaskedErrorFormatter {
  readonly format: ErrorFormatter;
  readonly unmasked: true;
}

/** How an endpoint formats errors. */
export interface ErrorFormat {
  /** Whether clients receive the messages of unexpected errors. */
  readonly isDebug: boolean;
  readonly formatter: ErrorFormatter | null;
  /** Whether the formatter receives errors whose message is masked. */
  readonly isUnmasked: boolean;
}

export function readErrorFormat({
  debug,
  formatError,
}: {
  readonly debug: boolean;
  readonly formatError?: ErrorFormatter | UnmaskedErrorFormatter | undefined;
}): ErrorFormat {
  const isPlain = typeof formatError === "function";
  const formatter = isPlain ? formatError : (formatError?.format ?? null);
  return { isDebug: debug, formatter, isUnmasked: !isPlain && formatter !== null };
}

/** An error that is ready to be sent, and what the application's formatter may know about it. */
interface Settled {
  readonly shown: FormattedError;
  readonly error: unknown;
  readonly isMasked: boolean;
}

/**
 * Lets the application's formatter change the message and the extensions. Everything else is settled: the log line, the status
 * and the correlation id. If it throws, or returns what JSON can't represent, the error is sent unchanged.
 */
export function reworded({ shown, error, isMasked }: Settled, ctx: BaseContext, format: ErrorFormat): FormattedError {
  if (format.formatter === null) return shown;
  try {
    const details: ErrorDetails = {
      code: shown.extensions.code,
      path: shown.path ?? null,
      request: ctx.request,
      error: isMasked && !format.isUnmasked ? null : error,
    };
    const instead = format.formatter(shown, details);
    const { message = shown.message, extensions = shown.extensions } = instead;
    if (typeof message !== "string" || typeof extensions !== "object" || extensions === null || "then" in instead)
      throw new TypeError("Graph.formatError must return an object with a message, extensions or both");
    // Throws for extensions that JSON can't represent, which would fail the whole response.
    JSON.stringify(extensions);
    const { correlationId } = shown.extensions;
    const sent = { ...shown, message, extensions: { ...(extensions as FormattedError["extensions"]), correlationId } };
    SETTLED.set(sent, shown);
    return sent;
  } catch (failure) {
    logFailure(ctx.services, ctx.exchange, failure, { option: "Graph.formatError" });
    return shown;
  }
}

const SETTLED = new WeakMap<FormattedError, FormattedError>();

/** The error before the application's formatter changed it, for hooks, logs and metrics. */
export function settledError(error: FormattedError): FormattedError {
  return SETTLED.get(error) ?? error;
}
