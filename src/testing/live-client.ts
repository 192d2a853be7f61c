import { once } from "node:events";
import { Agent, request as httpRequest, type IncomingMessage } from "node:http";
import type { PorticoApp } from "../portico-app.ts";
import { CookieJar } from "./cookie-jar.ts";
import { clientOver, type TestClient } from "./test-client.ts";
import type { OpenResponse, PreparedRequest, RequestSender } from "./test-request.ts";
import { toTestResponse } from "./test-response.ts";
import { openTestSocket, type TestSocket, type TestSocketOptions } from "./test-socket.ts";

/** A client over a real socket, with the interface of `TestClient`. */
export interface LiveClient extends TestClient {
  /** Returns this client with its own cookies, which its sockets send too. */
  readonly withCookies: () => LiveClient;
  readonly url: string;
  readonly port: number;
  /** Opens a WebSocket. Rejects with `SocketRefused` if the server responds with a status instead. */
  readonly socket: (path: string, options?: TestSocketOptions) => Promise<TestSocket>;
  /** Closes the connections and the application. */
  readonly close: () => Promise<void>;
}

/**
 * Starts the application on a free local port and connects to it over real sockets. An application without the `load` option
 * then serves every request, so that no test depends on how busy the machine is.
 *
 * @example
 * ```ts
 * import { PorticoApp } from "portico";
 * import { liveClient } from "portico/testing";
 *
 * const app = new PorticoApp().get("/hello", () => ({ hello: "world" }));
 * const client = await liveClient(app);
 * console.log((await client.get("/hello")).json());
 * await client.close();
 * ```
 */
export async function liveClient(app: PorticoApp): Promise<LiveClient> {
  app.serveUnderLoad();
  const { port, url } = await app.listen({ port: 0 });
  const agent = new Agent({ keepAlive: true });
  const sender: RequestSender = {
    async send(request) {
      const { status, headers, body } = await open(port, agent, request);
      return toTestResponse(status, headers, Buffer.concat(await body.toArray().catch(brokenOff(request))));
    },
    open: (request) => open(port, agent, request),
  };
  const over = (jar: CookieJar | null): LiveClient => ({
    ...clientOver(app, sender, undefined, jar),
    withCookies: () => over(new CookieJar()),
    url,
    port,
    socket: (path, options = {}) =>
      openTestSocket(`ws://127.0.0.1:${port}${path}`, {
        ...options,
        headers: { ...jar?.headers(path), ...options.headers },
      }),
    async close() {
      agent.destroy();
      await app.close();
    },
  });
  return over(null);
}

/** Names the request, because Node only reports "aborted". */
function brokenOff({ method, target }: PreparedRequest): (cause: unknown) => never {
  return (cause) => {
    throw new Error(`the response to ${method} ${target} ended early: see the log of the application`, {
      cause,
    });
  };
}

/** Uses `node:http`, because `fetch` does not send some headers and hides others. */
async function open(
  port: number,
  agent: Agent,
  { method, target, headers, body }: PreparedRequest,
): Promise<OpenResponse> {
  const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
  const outgoing = httpRequest({
    host: "127.0.0.1",
    port,
    agent,
    method,
    path: target,
    headers: { ...length, ...headers },
  });
  outgoing.end(body);
  const [response] = (await once(outgoing, "response")) as [IncomingMessage];
  return { status: response.statusCode ?? 0, headers: response.headers, body: response };
}
