import { ConfigurationError } from "../../core/configuration-error.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import { listOf, optional, resolveOptions, seconds, wholeNumber } from "../../core/resolve-options.ts";
import { type Size, size } from "../../core/size.ts";
import type { Injected } from "../../dependencies/depend.ts";
import type { ParamPlan } from "../../dependencies/param-plan.ts";
import type { Gate, GateScope, GateUser, RoutePlace } from "../../kernel/access/gate.ts";
import { type RouteAuth, readRouteGate } from "../../kernel/access/read-gate.ts";
import { HttpContext, type WebSocketContext } from "../../kernel/context/http-context.ts";
import type { RenderError } from "../../kernel/context/messages.ts";
import type { MiddlewareFunction } from "../../kernel/context/middleware-function.ts";
import type { PorticoRequest } from "../../kernel/context/portico-request.ts";
import type { AcceptOptions, RawPath, RawQuery } from "../../kernel/exchange/exchange.ts";
import type { Socket } from "../../kernel/exchange/socket.ts";
import type { SocketLimits } from "../messages/server-socket.ts";
import { type Middleware, middlewareFunctions } from "./middleware.ts";
import type { PathParams } from "./path-params.ts";
import { planRouteParams, sharedRules } from "./route.ts";
import type { Schema, SchemaOutput } from "./schema.ts";

/** The options of a socket route. */
export interface SocketOptions<G, P, Query, Path, Verdict = never, Url extends string = string> {
  /** Decides before the upgrade, so a rejection is an HTTP response. */
  readonly auth?: RouteAuth<
    G,
    Verdict,
    RoutePlace<SchemaOutput<Path, PathParams<Url> & RawPath>, SchemaOutput<Query, RawQuery>>
  >;
  /** Dependencies and contexts that the handler receives by name. They live as long as the socket. */
  readonly params?: P;
  readonly query?: Query;
  readonly path?: Path;
  readonly middleware?: readonly Middleware[];
  /** Subprotocols in order of preference. */
  readonly protocols?: readonly string[];
  /** The maximum size of a message. @default "1mb" */
  readonly maxMessage?: Size;
  /**
   * The memory for unread messages after which a client is disconnected: their bytes, and 256 for each. @default "4mb"
   */
  readonly maxBuffered?: Size;
  /** The maximum number of messages and pings from a client per second; 0 disables the limit. @default 1000 */
  readonly messagesPerSecond?: number;
  /** The interval between pings; 0 disables them. @default 30 */
  readonly pingSeconds?: number;
}

/** The object that a socket's handler receives. */
export type SocketHandlerArgs<Url extends string, G, P, Query, Path> = Injected<P> & {
  readonly ctx: WebSocketContext<GateUser<G>>;
  readonly context: WebSocketContext<GateUser<G>>;
  readonly socket: Socket;
  readonly user: GateUser<G>;
  readonly path: SchemaOutput<Path, PathParams<Url>>;
  readonly query: SchemaOutput<Query, RawQuery>;
  readonly request: PorticoRequest<
    GateUser<G>,
    GateScope<G>,
    SchemaOutput<Path, PathParams<Url>>,
    unknown,
    SchemaOutput<Query, RawQuery>
  >;
};

/** Runs while the socket is open. When it returns, the socket is closed. */
export type SocketHandler<Url extends string, G, P, Query, Path> = (
  args: SocketHandlerArgs<Url, G, P, Query, Path>,
) => MaybePromise<void>;

/** A declared socket route, validated. */
export interface SocketRoute {
  readonly path: string;
  readonly handler: (args: object) => unknown;
  readonly auth: Gate | undefined;
  /** Whether `auth: false` drops the gate of its router. */
  readonly isOpen: boolean;
  readonly params: readonly ParamPlan[];
  readonly schemas: { readonly query: Schema | undefined; readonly path: Schema | undefined };
  readonly middleware: readonly MiddlewareFunction[];
  readonly accept: AcceptOptions;
  readonly limits: SocketLimits;
  /** How a rejection before the upgrade is rendered; a problem by default. */
  readonly renderError?: RenderError;
  /** The `Graph` that it serves. */
  readonly graph?: object;
  /** For callers that may authenticate after the upgrade: the handler then receives the gate and checks it. */
  readonly admission?: {
    /** Runs only at the upgrade, before anything else. */
    readonly atUpgrade: readonly MiddlewareFunction[];
  };
}

const socketRules = {
  ...sharedRules,
  protocols: optional(
    listOf<string>("a list of subprotocols", (name) => typeof name === "string" && /^[\w.+-]+$/.test(name)),
    [],
  ),
  maxMessage: optional(size, 1024 ** 2),
  maxBuffered: optional(size, 4 * 1024 ** 2),
  messagesPerSecond: optional(wholeNumber, 1_000),
  pingSeconds: optional(seconds, 30),
} as const;

/** Validates a socket route at its declaration. */
export function declareSocketRoute(path: string, options: unknown, handler: unknown): SocketRoute {
  const owner = `socket ${path}`;
  const read = resolveOptions(owner, options, socketRules);
  if (typeof handler !== "function") throw new ConfigurationError(`${owner}: the handler`, "a function", handler);
  return {
    path,
    handler: handler as (args: object) => unknown,
    auth: readRouteGate(`${owner}.auth`, read.auth),
    isOpen: read.auth === false,
    params: planRouteParams(owner, read.params ?? {}, (context) => context !== HttpContext, null),
    schemas: { query: read.query, path: read.path },
    middleware: middlewareFunctions(owner, read.middleware ?? []),
    accept: { protocols: read.protocols, maxMessageBytes: read.maxMessage },
    limits: {
      maxBufferedBytes: read.maxBuffered,
      pauseBytes: read.maxBuffered,
      pingMs: read.pingSeconds * 1000,
      maxMessagesPerSecond: read.messagesPerSecond,
    },
  };
}
