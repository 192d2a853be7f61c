import { assertValidSchema, type GraphQLSchema, isObjectType, isSchema } from "graphql";
import { ConfigurationError } from "../../core/configuration-error.ts";
import { isProduction } from "../../core/env.ts";
import { needsOf } from "../../http/routing/middleware.ts";
import { declareRoute, type Method } from "../../http/routing/route.ts";
import type { Router } from "../../http/routing/router.ts";
import type { SocketRoute } from "../../http/routing/socket-route.ts";
import { readRouteGate } from "../../kernel/access/read-gate.ts";
import type { HttpContext } from "../../kernel/context/http-context.ts";
import { Preparer } from "../admit/preparer.ts";
import { type Adoption, adoptSchema } from "../adopt/adopt-schema.ts";
import { hasConnections } from "../connection/has-connections.ts";
import { hasResumable } from "../declare/fields/follow-topic.ts";
import { responseStoresIn } from "../declare/fields/idempotent-extensions.ts";
import { limitsIn } from "../declare/fields/limit-extensions.ts";
import { Documents } from "../documents/documents.ts";
import { readErrorFormat } from "../errors/error-format.ts";
import type { OperationHook } from "../hooks/operation-hook.ts";
import { OperationHooks } from "../hooks/operation-hooks.ts";
import { traceFields } from "../hooks/trace-fields.ts";
import { Explorer } from "../ide/explorer.ts";
import { IDE } from "../ide/ide.ts";
import { Limits } from "../limits/limits.ts";
import type { Pipeline } from "../pipeline/pipeline.ts";
import { checkOneGraphql } from "../schema/check-one-graphql.ts";
import { isOwnSchema } from "../schema/is-own-schema.ts";
import { SharedStreams } from "../streams/shared-streams.ts";
import { graphSocketRoute } from "../subscriptions/graph-socket-route.ts";
import { connectLimit, readSubscriptions } from "../subscriptions/subscriptions.ts";
import { Endpoint } from "../transport/endpoint.ts";
import { Transport } from "../transport/transport.ts";
import { Uploads } from "../uploads/uploads.ts";
import { type GraphOptions, readGraphOptions } from "./graph-options.ts";

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
  /** @internal Whether operations that are not valid have the status 200. */
  readonly invalidAsOk: boolean;
  /** @internal Whether `formatError` receives masked errors. */
  readonly hasUnmaskedErrors: boolean;
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
    const read = readGraphOptions(options);
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
    const pipeline: Pipeline = {
      schema,
      limits,
      hooks: this.#hooks,
      errorFormat: readErrorFormat(read),
      preparer: new Preparer(schema, { limits, introspection, executor: read.executor }),
      documents: new Documents(read.documents),
      shared: new SharedStreams(),
      timeoutMs: read.timeoutSeconds * 1000,
    };
    this.given = given;
    this.schema = schema;
    this.hasIntrospection = introspection;
    this.hasUnmaskedErrors = pipeline.errorFormat.isUnmasked;
    this.uploads = uploads;
    this.invalidAsOk = transport.invalidAsOk;
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
            renderError: this.#endpoint.renderError,
          })
        : null;
    this.#route = {
      openapi: false,
      // Each operation is charged for itself.
      cost: 0,
      maxBody: transport.maxBody,
      timeoutSeconds: read.timeoutSeconds,
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
    const hasCursors = hasConnections(this.schema) || hasResumable(this.schema);
    const needs = limitsIn(this.schema).map(needsOf);
    const responseStores = responseStoresIn(this.schema);
    for (const method of METHODS) {
      const route = declareRoute(method, this.#path, this.#route, ({ ctx }: { readonly ctx: HttpContext }) =>
        this.#endpoint.serve(ctx),
      );
      target.add({ ...route, hasCursors, needs, responseStores, renderError: this.#endpoint.renderError, graph: this });
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
