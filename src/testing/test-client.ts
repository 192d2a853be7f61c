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

/** What a test sends. */
export interface TestRequest {
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | readonly string[]>>;
  /**
   * A string or bytes as they are; `FormData`, `URLSearchParams`, a `Blob` or a stream as `fetch` would send them; anything else as
   * JSON. A `content-type` in `headers` counts instead of the one that goes with it.
   */
  readonly body?: unknown;
}

/** Speaks to an application. The same tests run over `testClient` and over `liveClient`; the methods can be taken off it. */
export interface TestClient {
  /** The same client, signed in as this user: see `actingAs`. */
  readonly as: (user: UserProtocol, options?: ActingOptions) => TestClient;
  /** The same client with a jar of its own: it keeps the cookies that answers set, and sends them until one takes them away. */
  readonly withCookies: () => TestClient;
  readonly get: (path: string, request?: TestRequest) => Promise<TestResponse>;
  readonly post: (path: string, request?: TestRequest) => Promise<TestResponse>;
  readonly put: (path: string, request?: TestRequest) => Promise<TestResponse>;
  readonly patch: (path: string, request?: TestRequest) => Promise<TestResponse>;
  readonly delete: (path: string, request?: TestRequest) => Promise<TestResponse>;
  readonly request: (method: string, path: string, request?: TestRequest) => Promise<TestResponse>;
  /** Runs a query or a mutation at the GraphQL endpoint. Variables may hold a `File` or a `Blob`, for an upload. */
  readonly graphql: <Data = Readonly<Record<string, unknown>>>(
    document: string,
    variables?: GraphVariables,
    ask?: GraphAsk,
  ) => Promise<GraphResult<Data>>;
  /** Listens to a subscription, as a stream over HTTP, from the first look at it on. Leaving the loop ends it. */
  readonly subscribe: <Data = Readonly<Record<string, unknown>>>(
    document: string,
    variables?: GraphVariables,
    ask?: GraphAsk,
  ) => GraphEvents<Data>;
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
export function clientOver(
  app: PorticoApp,
  sender: Sender,
  always: () => Readonly<Record<string, string>> = () => ({}),
  jar: CookieJar | null = null,
): TestClient {
  const { send, open } = jar === null ? sender : sendingCookies(sender, jar);
  const prepared = (method: string, path: string, options: TestRequest = {}): Promise<PreparedRequest> =>
    prepare(method, path, { ...options, headers: { ...always(), ...options.headers } });
  const request: TestClient["request"] = async (method, path, options) => send(await prepared(method, path, options));
  return {
    // New headers each time: a test may move the clock further than they are valid.
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

function operation(query: string, variables: GraphVariables, given: Readonly<Record<string, string>>): TestRequest {
  const { headers, body } = graphBody(query, variables);
  return { body, headers: { ...headers, ...given } };
}

/** The headers of a subscription. */
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
  // In lower case: what the test says about its body stands in the place of ours, however it is written.
  const given = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return { method, target, headers: type === null ? given : { "content-type": type, ...given }, body: bytes };
}
