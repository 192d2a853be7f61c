import { TELL_LISTENING } from "../kernel/events/listening.ts";
import type { UserProtocol } from "../kernel/identity/identity.ts";
import type { PorticoApp } from "../portico-app.ts";
import { type ActingOptions, actingAs } from "./acting-as.ts";
import { CookieJar, sendingCookies } from "./cookie-jar.ts";
import { EventReader, type GraphEvents } from "./graph-events.ts";
import { type GraphAsk, type GraphResult, graphResult } from "./graph-result.ts";
import type { GraphVariables, PreparedRequest, RequestSender, TestRequest } from "./test-request.ts";
import { type TestResponse, type TestResponseHeaders, toTestResponse } from "./test-response.ts";

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
  sender: RequestSender,
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

/** An encoded request body. */
interface EncodedBody {
  readonly bytes: string | Uint8Array | undefined;
  /** The `Content-Type`, unless the test sets one. */
  readonly type: string | null;
}

/**
 * Encodes a request body. Strings and bytes are sent unchanged and without a `Content-Type`; forms, blobs and streams
 * as `fetch` sends them; anything else as JSON.
 */
async function encodeBody(body: unknown): Promise<EncodedBody> {
  if (body === undefined || typeof body === "string" || body instanceof Uint8Array) return { bytes: body, type: null };
  if (!isOfFetch(body)) return { bytes: JSON.stringify(body), type: "application/json" };
  // `Response` determines the content type, including the boundary of a form.
  const { headers, bytes } = await read(new Response(body));
  return { bytes, type: headers.get("content-type") };
}

type OfFetch = FormData | URLSearchParams | Blob | ArrayBuffer | ReadableStream<Uint8Array>;

function isOfFetch(body: unknown): body is OfFetch {
  return [FormData, URLSearchParams, Blob, ArrayBuffer, ReadableStream].some((type) => body instanceof type);
}

async function read(response: Response): Promise<{ headers: Headers; bytes: Uint8Array }> {
  return { headers: response.headers, bytes: new Uint8Array(await response.arrayBuffer()) };
}

/**
 * Builds the request of an operation: JSON, or a multipart request if the variables contain files.
 *
 * @see https://github.com/jaydenseric/graphql-multipart-request-spec
 */
function graphBody(query: string, variables: GraphVariables): Required<Pick<TestRequest, "headers" | "body">> {
  const places = new Map<Blob, string[]>();
  const bare = withoutFiles(variables, "variables", places);
  if (places.size === 0) return { headers: {}, body: { query, variables } };
  const form = new FormData();
  form.append("operations", JSON.stringify({ query, variables: bare }));
  form.append("map", JSON.stringify(Object.fromEntries([...places.values()].entries())));
  for (const [name, file] of [...places.keys()].entries()) form.append(String(name), file);
  // Any page can send a form. This header shows that the request is not cross-site (CSRF).
  return { headers: { "graphql-require-preflight": "1" }, body: form };
}

/** Replaces each file with null and adds its paths to `places`. A file used twice is sent once. */
function withoutFiles(value: unknown, path: string, places: Map<Blob, string[]>): unknown {
  if (value instanceof Blob) {
    places.set(value, [...(places.get(value) ?? []), path]);
    return null;
  }
  if (Array.isArray(value)) return value.map((entry, index) => withoutFiles(entry, `${path}.${index}`, places));
  if (!isPlain(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, entry]) => [name, withoutFiles(entry, `${path}.${name}`, places)]),
  );
}

/** An object with `toJSON`, such as a Date, serialises itself. */
function isPlain(value: unknown): value is object {
  return typeof value === "object" && value !== null && !("toJSON" in value);
}
