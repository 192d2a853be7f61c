import { ConfigurationError } from "../../core/configuration-error.ts";
import { isInstance } from "../../core/describe-error.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import type { PorticoRequest } from "./portico-request.ts";
import type { PorticoResponse } from "./portico-response.ts";

/** Turns an error into a response. Its return value is sent like that of a route handler. */
export type ExceptionHandler<E> = (request: PorticoRequest, response: PorticoResponse, exc: E) => MaybePromise<unknown>;
export type ErrorClass<E> = abstract new (...args: never) => E;

/** The application's exception handlers, found by the nearest class of the error. */
export class ExceptionHandlers {
  readonly #handlers = new Map<unknown, ExceptionHandler<never>>();

  add<E extends Error>(type: ErrorClass<E>, handler: ExceptionHandler<E>): void {
    const isErrorClass = typeof type === "function" && ((type as unknown) === Error || type.prototype instanceof Error);
    if (!isErrorClass) throw new ConfigurationError("addExceptionHandler", "given an error class", type);
    if (typeof handler !== "function")
      throw new ConfigurationError("addExceptionHandler", "given a function (request, response, exc)", handler);
    this.#handlers.set(type, handler);
  }

  /** The handler for the class of the error, or for the nearest superclass. */
  find(error: unknown): ExceptionHandler<unknown> | null {
    if (!isInstance(error, Error)) return null;
    // By prototypes, not by constructors: a DOMException is an Error, but its class extends nothing.
    for (
      let level: object | null = Object.getPrototypeOf(error);
      level !== null;
      level = Object.getPrototypeOf(level)
    ) {
      const handler = this.#handlers.get(level.constructor);
      if (handler !== undefined) return handler as ExceptionHandler<unknown>;
    }
    return null;
  }
}
