import { assertValidSchema, type GraphQLSchema, isSchema } from "graphql";
import { ConfigurationError } from "../core/configuration-error.ts";
import { isProduction } from "../core/env.ts";
import { flag, listOf, optional, resolveOptions, rule, seconds } from "../core/options.ts";
import type { HttpContext } from "../http/context.ts";
import type { Gate } from "../http/identity.ts";
import type { Middleware } from "../http/middleware.ts";
import { declareRoute, gate, type Method } from "../http/route.ts";
import type { Router } from "../http/router.ts";
import { Documents, type DocumentsOptions } from "./documents/documents.ts";
import { Preparer } from "./execute/prepare.ts";
import type { Pipeline } from "./execute/run-request.ts";
import type { OperationHook } from "./hooks/operation-hook.ts";
import { checkOneGraphql } from "./language/one-graphql.ts";
import { Limits, type LimitsOptions } from "./limits/limits.ts";
import { Endpoint } from "./transport/endpoint.ts";
import { Transport, type TransportOptions } from "./transport/transport.ts";
import { Uploads, type UploadsOptions } from "./uploads/uploads.ts";

/** How an endpoint is set up. */
export interface GraphOptions {
  /** @default "/graphql" */
  readonly path?: `/${string}`;
  readonly transport?: Transport | TransportOptions;
  readonly uploads?: Uploads | UploadsOptions;
  readonly limits?: Limits | LimitsOptions;
  /** Documents that a request names instead of sending them. */
  readonly documents?: DocumentsOptions;
  /** Whether the schema may be asked for, and errors suggest names. @default true outside production */
  readonly introspection?: boolean;
  /** Whether the text of unexpected errors is sent. Refused in production. @default false */
  readonly debug?: boolean;
  /** How long an operation may take, in seconds; 0 is for ever. @default 30 */
  readonly timeout?: number;
  /** The gate of the endpoint's route. */
  readonly auth?: Gate;
  /** Middleware of the endpoint's route. */
  readonly middleware?: readonly Middleware[];
}

const path = rule<`/${string}`>(
  'a path that begins with "/"',
  (value) => typeof value === "string" && value.startsWith("/"),
);
const settings = <T extends object>(name: string): ReturnType<typeof rule<T>> =>
  rule<T>(`${name}, or an object of its options`, (value) => typeof value === "object" && value !== null);

const graphRules = {
  path: optional(path, "/graphql"),
  transport: optional(settings<Transport | TransportOptions>("a Transport"), {}),
  uploads: optional(settings<Uploads | UploadsOptions>("an Uploads"), {}),
  limits: optional(settings<Limits | LimitsOptions>("a Limits"), {}),
  documents: optional(settings<DocumentsOptions>("documents"), {}),
  introspection: flag,
  debug: optional(flag, false),
  timeout: optional(seconds, 30),
  auth: gate,
  middleware: listOf<Middleware>("a list of middleware", () => true),
};

/** Those that run operations, and those that hear 405 in the shape that GraphQL clients read. */
const METHODS: readonly Method[] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/**
 * A GraphQL endpoint. It takes any `GraphQLSchema`, however it was built.
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
  readonly #path: string;
  readonly #hooks: OperationHook[] = [];
  readonly #endpoint: Endpoint;
  readonly #route: Readonly<Record<string, unknown>>;

  constructor(schema: GraphQLSchema, options: GraphOptions = {}) {
    checkOneGraphql();
    if (!isSchema(schema)) throw new ConfigurationError("Graph", "given a GraphQLSchema", schema);
    assertValidSchema(schema);
    const read = resolveOptions("Graph", options, graphRules);
    if (read.debug && isProduction())
      throw new ConfigurationError(
        "Graph.debug",
        "would show the inside of errors to everybody: it is refused in production",
      );
    const [transport, uploads, limits] = [
      Transport.from(read.transport),
      Uploads.from(read.uploads),
      Limits.from(read.limits),
    ];
    const introspection = read.introspection ?? !isProduction();
    const pipeline: Pipeline = {
      schema,
      limits,
      hooks: this.#hooks,
      isDebug: read.debug,
      preparer: new Preparer(schema, { limits, introspection }),
      documents: new Documents(read.documents),
    };
    this.#path = read.path;
    this.#endpoint = new Endpoint(pipeline, { transport, uploads });
    this.#route = {
      openapi: false,
      maxBody: transport.maxBody,
      timeoutSeconds: read.timeout,
      ...(read.auth === undefined ? {} : { auth: read.auth }),
      ...(read.middleware === undefined ? {} : { middleware: read.middleware }),
    };
  }

  /** Adds a hook that is called after every operation, refused ones too. */
  onOperation(hook: OperationHook): this {
    const isHook =
      typeof hook === "function" ||
      (typeof hook === "object" && hook !== null && typeof hook.onOperation === "function");
    if (!isHook)
      throw new ConfigurationError(
        "onOperation",
        "given a function (result, context), or an object with onOperation",
        hook,
      );
    this.#hooks.push(hook);
    return this;
  }

  /** Puts the endpoint on an application or a router, whose prefix then stands before the path. */
  mount(target: Router<any>): this {
    for (const method of METHODS) {
      const route = declareRoute(method, this.#path, this.#route, ({ ctx }: { readonly ctx: HttpContext }) =>
        this.#endpoint.serve(ctx),
      );
      target.add({ ...route, renderError: (ctx, error) => this.#endpoint.renderError(ctx, error) });
    }
    return this;
  }
}
