import type { Clock } from "../core/clock.ts";
import type { Logger } from "../core/logger.ts";
import type { Overrides } from "../dependencies/scope.ts";
import type { Stores } from "../stores/stores.ts";
import type { ExceptionHandlers } from "./exception-handlers.ts";
import type { Load } from "./load.ts";
import type { Origins } from "./origins.ts";
import type { Paging } from "./paging.ts";

/** What an application lends to everything that runs in it. */
export interface Host {
  readonly stores: Stores;
  readonly log: Logger;
  readonly clock: Clock;
  readonly origins: Origins;
  readonly load: Load;
  readonly paging: Paging;
  readonly exceptionHandlers: ExceptionHandlers;
  /** Providers that stand in for others, in a test. */
  readonly overrides: Overrides;
  /** Without a slash at its end; `null` when the request itself tells. */
  readonly publicUrl: string | null;
  /** Whether answers to unexpected errors say what happened. */
  readonly debug: boolean;
}
