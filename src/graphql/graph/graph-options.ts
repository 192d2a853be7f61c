import type { MaybePromise } from "../../core/maybe-promise.ts";
import {
  type Complete,
  flag,
  listOf,
  objectRule,
  oneOf,
  optional,
  optionRule,
  orFalse,
  orFlag,
  resolveOptions,
  seconds,
  urlPath,
} from "../../core/resolve-options.ts";
import type { Middleware } from "../../http/routing/middleware.ts";
import type { Auth, RoutePlace } from "../../kernel/access/gate.ts";
import { authRule, type WrittenAuth } from "../../kernel/access/read-gate.ts";
import type { BaseContext } from "../../kernel/context/http-context.ts";
import type { BuildContext } from "../adopt/foreign-context.ts";
import type { DocumentsOptions } from "../documents/documents.ts";
import type { ErrorFormatter, UnmaskedErrorFormatter } from "../errors/error-format.ts";
import type { IDE, IDEOptions } from "../ide/ide.ts";
import type { Limits, LimitsOptions } from "../limits/limits.ts";
import type { SubscriptionsOptions } from "../subscriptions/subscriptions.ts";
import type { Transport, TransportOptions } from "../transport/transport.ts";
import type { Uploads, UploadsOptions } from "../uploads/uploads.ts";

/** The options of a GraphQL endpoint. */
export interface GraphOptions {
  /** @default "/graphql" */
  readonly path?: `/${string}`;
  /** The accepted requests, and the content type of responses. @default those of `TransportOptions` */
  readonly transport?: Transport | TransportOptions;
  /** The files that clients may send with an operation. @default none */
  readonly uploads?: Uploads | UploadsOptions;
  /** The limits on one operation. @default those of `LimitsOptions` */
  readonly limits?: Limits | LimitsOptions;
  /** GraphiQL, for browsers that open the same address. @default false */
  readonly ide?: boolean | IDE | IDEOptions;
  /** How subscriptions are served; `false` disables them. @default enabled if the schema has a subscription type */
  readonly subscriptions?: SubscriptionsOptions | false;
  /** Stored documents, which requests can name by id or hash. @default none */
  readonly documents?: DocumentsOptions;
  /**
   * Whether clients may query the schema, also by `_service` of a subgraph, and errors suggest names from it.
   * @default true outside production
   */
  readonly introspection?: boolean;
  /** Whether clients receive the messages of unexpected errors. Must be off in production. @default false */
  readonly debug?: boolean;
  /**
   * Changes the message and the extensions of each error before it is sent: those of fields, denials by gates, rejected operations,
   * batches, sockets and events. It is synchronous, and runs after messages are masked and the log line is written. `error` is
   * `null` for a masked error. `{ format, unmasked: true }` receives these, too, and `portico audit` warns of it. If it throws, the
   * error is sent unchanged. @default errors are sent as they are
   */
  readonly formatError?: ErrorFormatter | UnmaskedErrorFormatter;
  /** The time limit for an operation, in seconds; 0 disables it. @default 30 */
  readonly timeoutSeconds?: number;
  /**
   * The executor of operations: Portico's own executor, or graphql's `execute`, which has the same results and is slower.
   * @default "portico"
   */
  readonly executor?: "portico" | "graphql-js";
  /** The gate of the endpoint's route, with the values that a route takes. @default none */
  readonly auth?: Auth<RoutePlace>;
  /**
   * Gates by schema coordinate, for a schema that was built elsewhere: `{ "Query.audit": useAuth(), Order: ownOrders }`. The gate
   * of a field decides before its resolver, that of a type about each of its objects. A gate on an interface counts for the
   * types that implement it. The schema itself does not change. @default no gates
   */
  readonly rules?: GraphRules;
  /**
   * Builds the context value that the resolvers of an existing schema expect, once for each operation. @default the
   * `GraphContext` of the operation
   */
  readonly context?: (ctx: BaseContext) => MaybePromise<object>;
  /** Middleware of the endpoint's route. @default none */
  readonly middleware?: readonly Middleware[];
}

/** Gates by schema coordinate. */
export interface GraphRules {
  readonly [coordinate: string]: Auth<any>;
}

/** The options of one endpoint after all checks. */
export interface ResolvedGraphOptions
  extends Complete<Omit<GraphOptions, "auth" | "context">, "formatError" | "introspection" | "middleware"> {
  readonly auth: WrittenAuth | undefined;
  readonly context: BuildContext | undefined;
}

/** Checks the options of an endpoint. Throws `ConfigurationError` for an unknown or invalid option. */
export function readGraphOptions(options: GraphOptions): ResolvedGraphOptions {
  return resolveOptions("Graph", options, graphRules);
}

const graphRules = {
  path: optional(urlPath, "/graphql"),
  transport: optional(objectRule<Transport | TransportOptions>("a Transport, or an object with its options"), {}),
  uploads: optional(objectRule<Uploads | UploadsOptions>("an Uploads, or an object with its options"), {}),
  limits: optional(objectRule<Limits | LimitsOptions>("a Limits, or an object with its options"), {}),
  ide: optional(orFlag(objectRule<IDE | IDEOptions>("an IDE, or an object with its options")), false),
  subscriptions: optional(orFalse(objectRule<SubscriptionsOptions>("an object of options")), {}),
  documents: optional(objectRule<DocumentsOptions>("an object of options"), {}),
  introspection: flag,
  debug: optional(flag, false),
  formatError: optionRule<ErrorFormatter | UnmaskedErrorFormatter>(
    "a function, or { format, unmasked: true }",
    (value) => typeof value === "function" || isUnmasked(value),
  ),
  timeoutSeconds: optional(seconds, 30),
  executor: optional(oneOf("portico", "graphql-js"), "portico"),
  auth: authRule,
  rules: optional(objectRule<GraphRules>("an object of gates by schema coordinate"), {}),
  context: optionRule<BuildContext>(
    "a function that returns the context value",
    (value) => typeof value === "function",
  ),
  middleware: listOf<Middleware>("a list of middleware", () => true),
};

function isUnmasked(value: unknown): boolean {
  const { format, unmasked } = (value ?? {}) as Partial<UnmaskedErrorFormatter>;
  return typeof format === "function" && unmasked === true;
}
