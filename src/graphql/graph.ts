import { assertValidSchema, type GraphQLSchema, isObjectType, isSchema } from "graphql";
import { ConfigurationError } from "../core/configuration-error.ts";
import { isProduction } from "../core/env.ts";
import type { MaybePromise } from "../core/maybe-promise.ts";
import { flag, listOf, optional, optionRule, resolveOptions, seconds } from "../core/resolve-options.ts";
import type { Auth, RoutePlace } from "../http/access/gate.ts";
import { authRule, readRouteGate } from "../http/access/read-gate.ts";
import type { BaseContext, HttpContext } from "../http/context/http-context.ts";
import type { RenderError } from "../http/context/render-problem.ts";
import type { Middleware } from "../http/routing/middleware.ts";
import { declareRoute, type Method } from "../http/routing/route.ts";
import type { Router } from "../http/routing/router.ts";
import type { SocketRoute } from "../http/routing/socket-route.ts";
import { type Adoption, adoptSchema } from "./adopt/adopt-schema.ts";
import type { BuildContext } from "./adopt/foreign-context.ts";
import { hasConnections } from "./connection/has-connections.ts";
import { Documents, type DocumentsOptions } from "./documents/documents.ts";
import { type Executor, Preparer } from "./execute/preparer.ts";
import { traceFields } from "./hooks/field-trace.ts";
import type { OperationHook } from "./hooks/operation-hook.ts";
import { OperationHooks } from "./hooks/operation-hooks.ts";
import { Explorer } from "./ide/explorer.ts";
import { IDE, type IDEOptions } from "./ide/ide.ts";
import { Limits, type LimitsOptions } from "./limits/limits.ts";
import { checkOneGraphql } from "./schema/check-one-graphql.ts";
import { isOwnSchema } from "./schema/is-own-schema.ts";
import { graphSocketRoute } from "./subscriptions/graph-socket-route.ts";
import type { SubscriptionPipeline } from "./subscriptions/live-subscription.ts";
import { SharedStreams } from "./subscriptions/shared-streams.ts";
import { connectLimit, readSubscriptions, type SubscriptionsOptions } from "./subscriptions/subscriptions.ts";
import { Endpoint } from "./transport/endpoint.ts";
import { Transport, type TransportOptions } from "./transport/transport.ts";
import { Uploads, type UploadsOptions } from "./uploads/uploads.ts";

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
  /** The time limit for an operation, in seconds; 0 disables it. @default 30 */
  readonly timeout?: number;
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

const path = optionRule<`/${string}`>(
  'a path that begins with "/"',
  (value) => typeof value === "string" && value.startsWith("/"),
);
const settings = <T extends object>(expected: string): ReturnType<typeof optionRule<T>> =>
  optionRule<T>(expected, (value) => typeof value === "object" && value !== null);

const graphRules = {
  path: optional(path, "/graphql"),
  transport: optional(settings<Transport | TransportOptions>("a Transport, or an object with its options"), {}),
  uploads: optional(settings<Uploads | UploadsOptions>("an Uploads, or an object with its options"), {}),
  limits: optional(settings<Limits | LimitsOptions>("a Limits, or an object with its options"), {}),
  ide: optional(
    optionRule<boolean | IDE | IDEOptions>(
      "true, false, an IDE, or an object with its options",
      (value) => typeof value === "boolean" || (typeof value === "object" && value !== null),
    ),
    false,
  ),
  subscriptions: optional(
    optionRule<SubscriptionsOptions | false>(
      "false, or an object of options",
      (value) => value === false || (typeof value === "object" && value !== null),
    ),
    {},
  ),
  documents: optional(settings<DocumentsOptions>("an object of options"), {}),
  introspection: flag,
  debug: optional(flag, false),
  timeout: optional(seconds, 30),
  executor: optional(
    optionRule<Executor>('"portico" or "graphql-js"', (value) => value === "portico" || value === "graphql-js"),
    "portico",
  ),
  auth: authRule,
  rules: optional(settings<GraphRules>("an object of gates by schema coordinate"), {}),
  context: optionRule<BuildContext>(
    "a function that returns the context value",
    (value) => typeof value === "function",
  ),
  middleware: listOf<Middleware>("a list of middleware", () => true),
};

/** The methods other than GET and POST are registered so that their 405 has the shape of a GraphQL response. */
const METHODS: readonly Method[] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/**
 * A GraphQL endpoint for any `GraphQLSchema`, however it was built.
 *
 * @example
 * ```ts
 * import { PorticoApp } from "portico";
 * import { field, Graph, schema, t } from "portico/graphql";
 *
 * const app = new PorticoApp();
 * const query = { hello: field(t.string, { params: { name: t.string("world") } })(({ name }) => `hello ${name}`) };
 *
 * new Graph(schema({ query }), { limits: { depth: 8 } }).mount(app); // POST and GET /graphql
 * ```
 */
export class Graph {
  /** @internal The schema that was passed in. */
  readonly given: GraphQLSchema;
  /** @internal The copy that it serves. */
  readonly schema: GraphQLSchema;
  /** @internal Whether clients may query the schema. */
  readonly hasIntrospection: boolean;
  /** @internal Whether it serves GraphiQL. */
  readonly hasExplorer: boolean;
  /** @internal */
  readonly uploads: Uploads;
  readonly #path: string;
  readonly #hooks = new OperationHooks();
  readonly #endpoint: Endpoint;
  readonly #route: Readonly<Record<string, unknown>>;
  /** Serves subscriptions at the same path; the explorer uses it if it exists. */
  readonly #socket: SocketRoute | null;

  constructor(given: GraphQLSchema, options: GraphOptions = {}) {
    checkOneGraphql();
    if (!isSchema(given)) throw new ConfigurationError("Graph", "given a GraphQLSchema", given);
    assertValidSchema(given);
    const read = resolveOptions("Graph", options, graphRules);
    if (read.debug && isProduction())
      throw new ConfigurationError(
        "Graph.debug",
        "must not be enabled in production: it would expose internal errors to clients",
      );
    const [transport, uploads, limits] = [
      Transport.from(read.transport),
      Uploads.from(read.uploads),
      Limits.from(read.limits),
    ];
    checkAdopted(given, read);
    const schema = adoptSchema(given, read);
    const introspection = read.introspection ?? !isProduction();
    const pipeline: SubscriptionPipeline = {
      schema,
      limits,
      hooks: this.#hooks,
      isDebug: read.debug,
      preparer: new Preparer(schema, { limits, introspection, executor: read.executor }),
      documents: new Documents(read.documents),
      shared: new SharedStreams(),
      timeoutMs: read.timeout * 1000,
    };
    this.given = given;
    this.schema = schema;
    this.hasIntrospection = introspection;
    this.uploads = uploads;
    this.#path = read.path;
    const ide = IDE.from(read.ide);
    this.hasExplorer = ide.enabled;
    const explorer = ide.enabled ? new Explorer(ide, () => this.#socket !== null) : null;
    const live = isObjectType(schema.getSubscriptionType()) ? read.subscriptions : false;
    const subscriptions = live === false ? null : readSubscriptions(live);
    this.#endpoint = new Endpoint(pipeline, {
      transport,
      uploads,
      explorer,
      subscriptions,
      connectLimit: subscriptions === null ? null : connectLimit(subscriptions, read.path),
    });
    this.#socket =
      subscriptions?.socket === true
        ? graphSocketRoute({
            path: read.path,
            pipeline,
            subscriptions,
            maxMessage: transport.maxBody,
            gate: readRouteGate("Graph.auth", read.auth),
            isOpen: read.auth === false,
            middleware: read.middleware ?? [],
            renderError: (ctx, error) => this.#endpoint.renderError(ctx, error),
          })
        : null;
    this.#route = {
      openapi: false,
      // Each operation is charged for itself.
      cost: 0,
      maxBody: transport.maxBody,
      timeoutSeconds: read.timeout,
      ...(read.auth === undefined ? {} : { auth: read.auth }),
      ...(read.middleware === undefined ? {} : { middleware: read.middleware }),
    };
  }

  /** Adds a hook that is called after every operation, including rejected ones, and at the end of every subscription. */
  onOperation(hook: OperationHook): this {
    this.#hooks.add(hook);
    if (this.#hooks.isTracing) traceFields(this.schema);
    return this;
  }

  /** Adds the endpoint to an application, or to a router, whose prefix is put before the path. */
  mount(target: Router<any>): this {
    const hasCursors = hasConnections(this.schema);
    for (const method of METHODS) {
      const route = declareRoute(method, this.#path, this.#route, ({ ctx }: { readonly ctx: HttpContext }) =>
        this.#endpoint.serve(ctx),
      );
      const renderError: RenderError = (ctx, error) => this.#endpoint.renderError(ctx, error);
      target.add({ ...route, hasCursors, renderError, graph: this });
    }
    if (this.#socket !== null) target.addSocket({ ...this.#socket, graph: this });
    return this;
  }
}

/** The lists of our own schemas look at the gates of their declarations, to restrict rows, totals and filters. */
function checkAdopted(schema: GraphQLSchema, { rules, context }: Adoption): void {
  if (!isOwnSchema(schema)) return;
  if (Object.keys(rules).length > 0)
    throw new ConfigurationError(
      "Graph.rules",
      "is for schemas that schema() did not build: set auth on the field or the type",
    );
  if (context !== undefined)
    throw new ConfigurationError(
      "Graph.context",
      "is for schemas that schema() did not build: its resolvers receive ctx",
    );
}
