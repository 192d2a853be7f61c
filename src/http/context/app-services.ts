import type { Clock } from "../../core/clock.ts";
import type { Logger } from "../../core/logger.ts";
import type { Overrides } from "../../dependencies/dependency-scope.ts";
import type { Stores } from "../../stores/stores.ts";
import type { RequestHooks } from "../hooks/request-hooks.ts";
import type { Actors } from "../identity/actors.ts";
import type { OpenConnections } from "../identity/open-connections.ts";
import type { Budget } from "../limits/budget.ts";
import type { Paging } from "../pages/paging.ts";
import type { ExceptionHandlers } from "./exception-handlers.ts";
import type { LaterWork } from "./later-work.ts";
import type { Load } from "./load.ts";
import type { Origins } from "./origins.ts";

/** The services that an application provides to everything that runs in it. */
export interface AppServices {
  readonly stores: Stores;
  readonly log: Logger;
  readonly clock: Clock;
  readonly origins: Origins;
  readonly load: Load;
  /** The budgets of callers; `null` without the option. */
  readonly budget: Budget | null;
  /** The work that goes on after its response. */
  readonly laterWork: LaterWork;
  /** The open sockets and streams. */
  readonly connections: OpenConnections;
  readonly paging: Paging;
  readonly requestHooks: RequestHooks;
  readonly exceptionHandlers: ExceptionHandlers;
  /** Providers that replace others in a test. */
  readonly overrides: Overrides;
  /** The users that requests act as in a test. */
  readonly actors: Actors;
  /** The name of the application. */
  readonly title: string;
  /** Without a trailing slash; `null` if the URL is taken from each request. */
  readonly publicUrl: string | null;
  /** The address that the application listens on, such as `http://127.0.0.1:3000`; `null` while it does not listen. */
  readonly listensOn: () => string | null;
  /** Whether responses to unexpected errors contain the details. */
  readonly debug: boolean;
}
