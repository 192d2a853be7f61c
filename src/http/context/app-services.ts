import type { Clock } from "../../core/clock.ts";
import type { Logger } from "../../core/logger.ts";
import type { Overrides } from "../../dependencies/dependency-scope.ts";
import type { Stores } from "../../stores/stores.ts";
import type { Actors } from "../identity/actors.ts";
import type { OpenConnections } from "../identity/open-connections.ts";
import type { Paging } from "../pages/paging.ts";
import type { ExceptionHandlers } from "./exception-handlers.ts";
import type { Load } from "./load.ts";
import type { Origins } from "./origins.ts";

/** What an application lends to everything that runs in it. */
export interface AppServices {
  readonly stores: Stores;
  readonly log: Logger;
  readonly clock: Clock;
  readonly origins: Origins;
  readonly load: Load;
  /** The sockets and streams that are open. */
  readonly connections: OpenConnections;
  readonly paging: Paging;
  readonly exceptionHandlers: ExceptionHandlers;
  /** Providers that stand in for others, in a test. */
  readonly overrides: Overrides;
  /** Whom requests act as, in a test. */
  readonly actors: Actors;
  /** What the application calls itself. */
  readonly title: string;
  /** Without a slash at its end; `null` when the request itself tells. */
  readonly publicUrl: string | null;
  /** Where the application listens, such as `http://127.0.0.1:3000`; `null` while it does not. */
  readonly listensOn: () => string | null;
  /** Whether answers to unexpected errors say what happened. */
  readonly debug: boolean;
}
