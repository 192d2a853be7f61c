import type { Readable } from "node:stream";
import type { PorticoApp } from "../app.ts";
import type { CurrentUser } from "../http/identity.ts";
import { type ActingOptions, actingAs } from "./acting-as.ts";
import { type GraphAsk, type GraphResult, graphResult, graphResults } from "./graph-client.ts";
import { type TestResponse, type TestResponseHeaders, toTestResponse } from "./response.ts";

/** What a test sends. */
export interface TestRequest {
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | readonly string[]>>;
  /** A string or bytes as they are; anything else as JSON. */
  readonly body?: unknown;
}

/** Speaks to an application. The same tests run over `testClient` and over `liveClient`; the methods can be taken off it. */
export interface TestClient {
  /** The same client, signed in as this user: see `actingAs`. */
  readonly as: (user: CurrentUser, options?: ActingOptions) => TestClient;
  readonly get: (path: string, request?: TestRequest) => Promise<TestResponse>;
  readonly post: (path: string, request?: TestRequest) => Promise<TestResponse>;
  readonly put: (path: string, request?: TestRequest) => Promise<TestResponse>;
  readonly patch: (path: string, request?: TestRequest) => Promise<TestResponse>;
  readonly delete: (path: string, request?: TestRequest) => Promise<TestResponse>;
  readonly request: (method: string, path: string, request?: TestRequest) => Promise<TestResponse>;
  /** Runs a query or a mutation at the GraphQL endpoint. */
  readonly graphql: <Data = Readonly<Record<string, unknown>>>(
    document: string,
    variables?: GraphVariables,
    ask?: GraphAsk,
  ) => Promise<GraphResult<Data>>;
  /** Listens to a subscription, as a stream over HTTP. Leaving the loop ends it. */
  readonly subscribe: <Data = Readonly<Record<string, unknown>>>(
    document: string,
    variables?: GraphVariables,
    ask?: GraphAsk,
  ) => AsyncIterable<GraphResult<Data>>;
}

/** The variables of an operation. */
export type GraphVariables = Readonly<Record<string, unknown>>;

/** A request as it goes out. */
export interface PreparedRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
}

/** An answer whose body is still coming. */
export interface OpenResponse {
  readonly status: number;
  readonly headers: TestResponseHeaders;
  readonly body: Readable;
}

/** One way to send. */
export interface Sender {
  readonly send: (request: PreparedRequest) => Promise<TestResponse>;
  /** The answer is there with its headers. */
  readonly open: (request: PreparedRequest) => Promise<OpenResponse>;
}

/**
 * A client that needs no socket: requests go straight to the routes.
 *
 * @example
 * ```ts
 * import { PorticoApp } from "portico";
 * import { testClient } from "portico/testing";
 *
 * const app = new PorticoApp();
 * app.get("/hello", () => ({ hello: "world" }));
 *
 * const answer = await testClient(app).get("/hello");
 * console.log(answer.status, answer.json()); // 200 { hello: "world" }
 * ```
 */
export function testClient(app: PorticoApp): TestClient {
  return clientOver(app, {
    async send({ method, target, headers, body }) {
      const answer = await app.inject({ method, url: target, headers, ...(body === undefined ? {} : { body }) });
      return toTestResponse(answer.status, answer.headers, answer.body);
    },
    async open({ method, target, headers, body }) {
      const payload = body instanceof Uint8Array ? Buffer.from(body) : body;
      const answer = await (await app.started()).inject({
        method: method as "GET",
        url: target,
        headers,
        ...(payload === undefined ? {} : { payload }),
        payloadAsStream: true,
      });
      const stream = answer.stream();
      // As a connection would tell: whoever does not read on has left.
      stream.once("close", () => {
        if (!stream.readableEnded) answer.raw.res.destroy();
      });
      return { status: answer.statusCode, headers: answer.headers as TestResponseHeaders, body: stream };
    },
  });
}

/** The client's methods over one way to send. */
export function clientOver(app: PorticoApp, sender: Sender, always: Readonly<Record<string, string>> = {}): TestClient {
  const prepared = (method: string, path: string, options: TestRequest = {}): PreparedRequest =>
    prepare(method, path, { ...options, headers: { ...always, ...options.headers } });
  const request: TestClient["request"] = (method, path, options) => sender.send(prepared(method, path, options));
  return {
    as: (user, options) => clientOver(app, sender, actingAs(app, user, options)),
    request,
    get: (path, options) => request("GET", path, options),
    post: (path, options) => request("POST", path, options),
    put: (path, options) => request("PUT", path, options),
    patch: (path, options) => request("PATCH", path, options),
    delete: (path, options) => request("DELETE", path, options),
    graphql: <Data>(query: string, variables = {}, { path = "/graphql", headers = {} }: GraphAsk = {}) =>
      request("POST", path, { headers, body: { query, variables } }).then(graphResult<Data>),
    subscribe: <Data>(query: string, variables = {}, { path = "/graphql", headers = {} }: GraphAsk = {}) =>
      graphResults<Data>(() =>
        sender.open(
          prepared("POST", path, {
            headers: { accept: "text/event-stream", ...headers },
            body: { query, variables },
          }),
        ),
      ),
  };
}

function prepare(method: string, path: string, { headers = {}, query = {}, body }: TestRequest): PreparedRequest {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((entry): [string, string] => [name, String(entry)]),
  );
  const target =
    pairs.length === 0 ? path : `${path}${path.includes("?") ? "&" : "?"}${new URLSearchParams(pairs).toString()}`;
  if (body === undefined || typeof body === "string" || body instanceof Uint8Array)
    return { method, target, headers, body };
  return { method, target, headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) };
}
