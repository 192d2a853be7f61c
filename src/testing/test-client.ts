import type { Readable } from "node:stream";
import { TELL_LISTENING } from "../http/context/listening.ts";
import type { UserProtocol } from "../http/identity/identity.ts";
import type { PorticoApp } from "../portico-app.ts";
import { type ActingOptions, actingAs } from "./acting-as.ts";
import { CookieJar, sendingCookies } from "./cookie-jar.ts";
import { encodeBody } from "./encoded-body.ts";
import { graphBody } from "./graph-body.ts";
import { EventReader, type GraphEvents } from "./graph-events.ts";
import { type GraphAsk, type GraphResult, graphResult } from "./graph-result.ts";
import { type TestResponse, type TestResponseHeaders, toTestResponse } from "./test-response.ts";

/** The options of a test request. */
export interface TestRequest {
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | readonly string[]>>;
  /**
   * Strings and bytes are sent unchanged; `FormData`, `URLSearchParams`, a `Blob` or a stream as `fetch` sends them;
   * anything else as JSON. A `content-type` in `headers` replaces the default one.
   */
  readonly body?: unknown;
}

/**
 * Sends requests to an application. `testClient` and `liveClient` share this interface. The methods can be
 * destructured. A path may also be a link of the application, such as the `next` of a page or the link of an email.
 */
export interface TestClient {
  /** Returns this client signed in as the user: see `actingAs`. */
  readonly as: (user: UserProtocol, options?: ActingOptions) => TestClient;
  /**
   * Returns this client with its own cookie jar: it stores the cookies of responses and sends them until they are
   * deleted.
   */
  readonly withCookies: () => TestClient;
  readonly get: (path: string, request?: TestRequest) => Promise<TestResponse>;
  readonly post: (path: string, request?: TestRequest) => Promise<TestResponse>;
  readonly put: (path: string, request?: TestRequest) => Promise<TestResponse>;
  readonly patch: (path: string, request?: TestRequest) => Promise<TestResponse>;
  readonly delete: (path: string, request?: TestRequest) => Promise<TestResponse>;
  readonly request: (method: string, path: string, request?: TestRequest) => Promise<TestResponse>;
  /** Runs a query or a mutation. Variables may contain a `File` or a `Blob`, which is uploaded. */
  readonly graphql: <Data = Readonly<Record<string, unknown>>>(
    document: string,
    variables?: GraphVariables,
    ask?: GraphAsk,
  ) => Promise<GraphResult<Data>>;
  /** Subscribes over HTTP (server-sent events) when first read. Leaving the loop ends the subscription. */
  readonly subscribe: <Data = Readonly<Record<string, unknown>>>(
    document: string,
    variables?: GraphVariables,
    ask?: GraphAsk,
  ) => GraphEvents<Data>;
}

/** The variables of an operation. */
export type GraphVariables = Readonly<Record<string, unknown>>;

/** A request that is ready to be sent. */
export interface PreparedRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
}

/** A response whose body is still being received. */
export interface OpenResponse {
  readonly status: number;
  readonly headers: TestResponseHeaders;
  readonly body: Readable;
}

/** A transport for requests. */
export interface Sender {
  readonly send: (request: PreparedRequest) => Promise<TestResponse>;
  /** Resolves as soon as the headers have arrived. */
  readonly open: (request: PreparedRequest) => Promise<OpenResponse>;
}

/**
 * A client without a network: requests go directly to the routes.
 *
 * @example
 * ```ts
 * import { PorticoApp } from "portico";
 * import { testClient } from "portico/testing";
 *
 * const app = new PorticoApp();
 * app.get("/hello", () => ({ hello: "world" }));
 *
 * const response = await testClient(app).get("/hello");
 * console.log(response.status, response.json()); // 200 { hello: "world" }
 * ```
 */
export function testClient(app: PorticoApp): TestClient {
  return clientOver(app, {
    async send({ method, target, headers, body }) {
      const response = await app.inject({ method, url: target, headers, ...(body === undefined ? {} : { body }) });
      return toTestResponse(response.status, response.headers, response.body);
    },
    async open({ method, target, headers, body }) {
      const payload = body instanceof Uint8Array ? Buffer.from(body) : body;
      const response = await (await app.started()).light({
        method,
        url: target,
        headers,
        ...(payload === undefined ? {} : { payload }),
        payloadAsStream: true,
      });
      const stream = response.stream();
      // A reader that stops early disconnects, as over a real connection.
      stream.once("close", () => {
        if (!stream.readableEnded) response.raw.res.destroy();
      });
      return { status: response.statusCode, headers: response.headers as TestResponseHeaders, body: stream };
    },
  });
}

/** Builds the client's methods on a transport. */
export function clientOver(
  app: PorticoApp,
  sender: Sender,
  always: () => Readonly<Record<string, string>> = () => ({}),
  jar: CookieJar | null = null,
): TestClient {
  const { send, open } = jar === null ? sender : sendingCookies(sender, jar);
  const prepared = (method: string, path: string, options: TestRequest = {}): Promise<PreparedRequest> =>
    prepare(method, pathOf(app, path), { ...options, headers: { ...always(), ...options.headers } });
  const request: TestClient["request"] = async (method, path, options) => send(await prepared(method, path, options));
  return {
    // Created for each request, because a test may advance the clock beyond their expiry.
    as: (user, options) => clientOver(app, sender, () => actingAs(app, user, options), jar),
    withCookies: () => clientOver(app, sender, always, new CookieJar()),
    request,
    get: (path, options) => request("GET", path, options),
    post: (path, options) => request("POST", path, options),
    put: (path, options) => request("PUT", path, options),
    patch: (path, options) => request("PATCH", path, options),
    delete: (path, options) => request("DELETE", path, options),
    graphql: <Data>(query: string, variables = {}, { path = "/graphql", headers = {} }: GraphAsk = {}) =>
      request("POST", path, operation(query, variables, headers)).then(graphResult<Data>),
    subscribe: <Data>(query: string, variables = {}, { path = "/graphql", headers = {} }: GraphAsk = {}) =>
      new EventReader<Data>(async () =>
        open(await prepared("POST", path, operation(query, variables, { ...LISTENS, ...headers }))),
      ),
  };
}

/** The proxy that serves the public URL removes its path. */
function pathOf({ settings: { publicUrl } }: PorticoApp, path: string): string {
  return publicUrl !== null && path.startsWith(`${publicUrl}/`) ? path.slice(publicUrl.length) : path;
}

function operation(query: string, variables: GraphVariables, given: Readonly<Record<string, string>>): TestRequest {
  const { headers, body } = graphBody(query, variables);
  return { body, headers: { ...headers, ...given } };
}

/** The request headers of a subscription. */
const LISTENS = { accept: "text/event-stream", [TELL_LISTENING]: "1" };

async function prepare(
  method: string,
  path: string,
  { headers = {}, query = {}, body }: TestRequest,
): Promise<PreparedRequest> {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((entry): [string, string] => [name, String(entry)]),
  );
  const target =
    pairs.length === 0 ? path : `${path}${path.includes("?") ? "&" : "?"}${new URLSearchParams(pairs).toString()}`;
  const { bytes, type } = await encodeBody(body);
  // In lower case, so that a header of the test replaces the default whatever its spelling.
  const given = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return { method, target, headers: type === null ? given : { "content-type": type, ...given }, body: bytes };
}
