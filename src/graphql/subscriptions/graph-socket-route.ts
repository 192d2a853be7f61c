import type { ServerSocket } from "../../http/messages/server-socket.ts";
import { type Middleware, middlewareFunctions } from "../../http/routing/middleware.ts";
import type { SocketRoute } from "../../http/routing/socket-route.ts";
import type { OnRecheck, Readmit } from "../../http/serving/serve-socket.ts";
import type { Gate } from "../../kernel/access/gate.ts";
import type { WebSocketContext } from "../../kernel/context/http-context.ts";
import type { RenderError } from "../../kernel/context/messages.ts";
import type { Pipeline } from "../pipeline/pipeline.ts";
import { Conversation, PROTOCOL } from "./conversation.ts";
import { connectLimit, type Subscriptions } from "./subscriptions.ts";

export interface GraphSocketOptions {
  readonly path: string;
  readonly pipeline: Pipeline;
  readonly subscriptions: Subscriptions;
  /** In bytes. */
  readonly maxMessage: number;
  readonly gate: Gate | undefined;
  readonly isOpen: boolean;
  readonly middleware: readonly Middleware[];
  readonly renderError: RenderError;
}

interface SocketArgs {
  readonly ctx: WebSocketContext;
  readonly socket: ServerSocket;
  readonly gate: Gate | undefined;
  readonly readmit: Readmit;
  readonly onRecheck: OnRecheck;
}

/**
 * The socket of an endpoint. The upgrade runs its middleware and checks a credential if there is one. The gate runs after
 * `connection_init`, which may have another credential.
 */
export function graphSocketRoute(options: GraphSocketOptions): SocketRoute {
  const { path, pipeline, subscriptions } = options;
  const { maxBuffered, pauseAbove, pingSeconds, messagesPerSecond } = subscriptions;
  const limit = connectLimit(subscriptions, path);
  return {
    path,
    handler(args) {
      const { ctx, socket, gate, readmit, onRecheck } = args as SocketArgs;
      // The upgrade is accepted for any protocol, because otherwise the client would not see the reason.
      if (socket.protocol !== PROTOCOL) return socket.close(4406, `the subprotocol must be ${PROTOCOL}`);
      return new Conversation({ pipeline, subscriptions, gate, socket, ctx, readmit, onRecheck }).run();
    },
    auth: options.gate,
    isOpen: options.isOpen,
    params: [],
    schemas: { query: undefined, path: undefined },
    middleware: middlewareFunctions("Graph", options.middleware),
    accept: { protocols: [PROTOCOL, LEGACY_PROTOCOL], maxMessageBytes: options.maxMessage },
    limits: {
      maxBufferedBytes: maxBuffered,
      pauseBytes: pauseAbove,
      pingMs: pingSeconds * 1000,
      maxMessagesPerSecond: messagesPerSecond,
    },
    renderError: options.renderError,
    admission: { atUpgrade: limit === null ? [] : [limit] },
  };
}

/** The protocol of older clients. */
const LEGACY_PROTOCOL = "graphql-ws";
