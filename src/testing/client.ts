import type { PorticoApp } from "../app.ts";
import { type TestResponse, toTestResponse } from "./response.ts";

/** What a test sends. */
export interface TestRequest {
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | readonly string[]>>;
  /** A string or bytes as they are; anything else as JSON. */
  readonly body?: unknown;
}

/** Speaks to an application. The same tests run over `testClient` and over `liveClient`; the methods can be taken off it. */
export interface TestClient {
  readonly get: (path: string, request?: TestRequest) => Promise<TestResponse>;
  readonly post: (path: string, request?: TestRequest) => Promise<TestResponse>;
  readonly put: (path: string, request?: TestRequest) => Promise<TestResponse>;
  readonly patch: (path: string, request?: TestRequest) => Promise<TestResponse>;
  readonly delete: (path: string, request?: TestRequest) => Promise<TestResponse>;
  readonly request: (method: string, path: string, request?: TestRequest) => Promise<TestResponse>;
}

/** A request as it goes out. */
export interface PreparedRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
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
  return clientOver(async ({ method, target, headers, body }) => {
    const answer = await app.inject({ method, url: target, headers, ...(body === undefined ? {} : { body }) });
    return toTestResponse(answer.status, answer.headers, answer.body);
  });
}

/** The client's methods over one way to send. */
export function clientOver(send: (request: PreparedRequest) => Promise<TestResponse>): TestClient {
  const request = (method: string, path: string, options: TestRequest = {}): Promise<TestResponse> =>
    send(prepare(method, path, options));
  return {
    request,
    get: (path, options) => request("GET", path, options),
    post: (path, options) => request("POST", path, options),
    put: (path, options) => request("PUT", path, options),
    patch: (path, options) => request("PATCH", path, options),
    delete: (path, options) => request("DELETE", path, options),
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
