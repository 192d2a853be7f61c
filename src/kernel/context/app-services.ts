import type { Clock } from "../../core/clock.ts";
import type { Slotted } from "../../core/feature-slot.ts";
import type { Logger } from "../../core/logger.ts";
import type { Parts } from "../../core/parts/parts.ts";
import type { Overrides } from "../../dependencies/dependency-scope.ts";
import type { Stores } from "../../stores/stores.ts";
import type { OriginPolicy } from "../exchange/origin-policy.ts";
import type { RequestHooks } from "../hooks/request-hooks.ts";
import type { Actors } from "../identity/actors.ts";
import type { OpenConnections } from "../identity/open-connections.ts";
import type { Load } from "../load/load.ts";
import type { Paging } from "../pages/paging.ts";
import type { Decisions } from "./decisions.ts";
import type { ExceptionHandlers } from "./exception-handlers.ts";
import type { LaterWork } from "./later-work.ts";
import type { Messages } from "./messages.ts";

/** The services that an application provides to everything that runs in it. */
export interface AppServices extends Slotted {
  readonly stores: Stores;
  readonly log: Logger;
  readonly clock: Clock;
  readonly origins: OriginPolicy;
  /** The requests and responses of contexts. */
  readonly messages: Messages;
  /** The decisions of `ctx.authorize` and `ctx.can`. */
  readonly decisions: Decisions;
  readonly load: Load;
  /** The parts whose state is shown in metrics. A database joins with its first request. */
  readonly parts: Parts;
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
