import { once } from "node:events";
import { Agent, request as httpRequest, type IncomingMessage } from "node:http";
import type { PorticoApp } from "../portico-app.ts";
import { CookieJar } from "./cookie-jar.ts";
import { clientOver, type OpenResponse, type PreparedRequest, type Sender, type TestClient } from "./test-client.ts";
import { toTestResponse } from "./test-response.ts";
import { openTestSocket, type TestSocket, type TestSocketOptions } from "./test-socket.ts";

/** A client over a real socket, with the face of the other one. */
export interface LiveClient extends TestClient {
  /** As on the other one; its sockets send the cookies, too. */
  readonly withCookies: () => LiveClient;
  readonly url: string;
  readonly port: number;
  /** Opens a WebSocket; rejects with `SocketRefused` when the server answers with a status instead. */
  readonly socket: (path: string, options?: TestSocketOptions) => Promise<TestSocket>;
  /** Ends the application, too. */
  readonly close: () => Promise<void>;
}

/**
 * Starts the application on a free port of this machine and speaks to it over real connections.
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
  const { port, url } = await app.listen({ port: 0 });
  const agent = new Agent({ keepAlive: true });
  const sender: Sender = {
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

/** Node says "aborted", and nothing of what. */
function brokenOff({ method, target }: PreparedRequest): (cause: unknown) => never {
  return (cause) => {
    throw new Error(`the answer to ${method} ${target} broke off before its end: the log of the application says why`, {
      cause,
    });
  };
}

/** Not `fetch`: it refuses to send some headers, and hides others. */
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
  const [answer] = (await once(outgoing, "response")) as [IncomingMessage];
  return { status: answer.statusCode ?? 0, headers: answer.headers, body: answer };
}
