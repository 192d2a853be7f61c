import { PorticoClientError } from "./portico-client-error.ts";
import { connectionLost } from "./request.ts";

/** Ends a connection that has been silent for too long, because a lost connection may not be reported. */
export interface Watchdog {
  /** Aborts with the caller's signal, after a silence, and when the connection has ended. */
  readonly signal: AbortSignal;
  /** Begins to wait for the next sign of life. */
  alive(): void;
  /** The error with which the connection failed. */
  errorOf(error: unknown): unknown;
  end(): void;
}

/** @param idleSeconds the longest silence; 0 allows any */
export function watchdog(idleSeconds: number, signal: AbortSignal): Watchdog {
  const controller = new AbortController();
  const stop = (): void => controller.abort(signal.reason);
  signal.addEventListener("abort", stop);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const watch: Watchdog = {
    signal: controller.signal,
    alive() {
      clearTimeout(timer);
      if (idleSeconds > 0) timer = setTimeout(() => controller.abort(connectionLost()), idleSeconds * 1000);
    },
    errorOf(error) {
      if (controller.signal.aborted) return controller.signal.reason;
      return error instanceof PorticoClientError ? error : connectionLost(error);
    },
    end() {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      controller.abort();
    },
  };
  if (signal.aborted) stop();
  watch.alive();
  return watch;
}
