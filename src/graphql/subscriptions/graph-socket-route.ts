import type { Gate } from "../../http/context/gate.ts";
import type { WebSocketContext } from "../../http/context/http-context.ts";
import type { RenderError } from "../../http/context/render-problem.ts";
import type { ServerSocket } from "../../http/context/socket.ts";
import { type Middleware, middlewareFunctions } from "../../http/routing/middleware.ts";
import type { SocketRoute } from "../../http/routing/socket-route.ts";
import type { OnRecheck, Readmit } from "../../http/serving/serve-socket.ts";
import { Conversation, PROTOCOL } from "./conversation.ts";
import type { SubscriptionPipeline } from "./live-subscription.ts";
import { connectLimit, type Subscriptions } from "./subscriptions.ts";

export interface GraphSocketOptions {
  readonly path: string;
  readonly pipeline: SubscriptionPipeline;
  readonly subscriptions: Subscriptions;
  /** In bytes. */
  readonly maxMessage: number;
  readonly gate: Gate | undefined;
  readonly middleware: readonly Middleware[];
  readonly renderError: RenderError;
}

interface SocketArgs {
  readonly ctx: WebSocketContext;
  readonly socket: ServerSocket;
  readonly readmit: Readmit;
  readonly onRecheck: OnRecheck;
}

/** The socket of an endpoint: at the upgrade its middleware and a credential that is there, the gate after `connection_init`. */
export function graphSocketRoute(options: GraphSocketOptions): SocketRoute {
  const { path, pipeline, subscriptions, gate } = options;
  const { maxBuffered, pauseAbove, pingSeconds, messagesPerSecond } = subscriptions;
  const limit = connectLimit(subscriptions, path);
  return {
    path,
    handler(args) {
      const { ctx, socket, readmit, onRecheck } = args as SocketArgs;
      // Accepted all the same: a client that asked for a protocol and got none would not see why it is closed.
      if (socket.protocol !== PROTOCOL) return socket.close(4406, `the subprotocol must be ${PROTOCOL}`);
      return new Conversation({ pipeline, subscriptions, gate, socket, ctx, readmit, onRecheck }).run();
    },
    auth: undefined,
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

/** What clients of the years before speak. */
const LEGACY_PROTOCOL = "graphql-ws";
