import type { IncomingMessage, ServerResponse } from "node:http";
import { clientAddress } from "./client-address.ts";
import { hostName } from "./host-name.ts";
import { type ExchangeHost, NodeExchange, type ResponseHeaders } from "./node-exchange.ts";
import type { SenderFacts } from "./sender-of.ts";

/** A request of the server around the application: Fastify's, or Node's, which is also Express's. */
export type HostRequest = IncomingMessage | FastifyHostRequest;
/** Its response. */
export type HostResponse = ServerResponse | { readonly raw: ServerResponse };

/** The members of Fastify's request that are read. Its own type would reject requests of typed routes. */
export interface FastifyHostRequest {
  readonly raw: IncomingMessage;
  readonly ip: string;
  readonly host: string;
  readonly protocol: string;
}

/** A request that another server responds to. The application only adds headers to the response. */
export class HostExchange extends NodeExchange {
  readonly #fastify: FastifyHostRequest | null;

  constructor(host: ExchangeHost, request: HostRequest, response: HostResponse) {
    super(host, rawOf(request), rawOf(response), { params: {}, query: {}, refuse: ignore });
    this.#fastify = "raw" in request ? request : null;
  }

  /** In Fastify by the trusted proxies of that application, as for the routes that are registered in it. */
  protected override readSender(): SenderFacts {
    if (this.#fastify === null) return super.readSender();
    const { ip, host, protocol, raw } = this.#fastify;
    return { ip: clientAddress(ip, raw.socket.remoteAddress), host: hostName(host, raw.headers.host), protocol };
  }

  /**
   * Adds headers when the response begins. Earlier would be too early: Fastify replaces what was set on Node's response, and a
   * session may start later.
   */
  addHeaders(headersOf: () => ResponseHeaders): void {
    const { response } = this;
    const writeHead = response.writeHead.bind(response) as (status: number, reason?: string) => ServerResponse;
    response.writeHead = (status: number, ...rest: readonly unknown[]): ServerResponse => {
      const reason = typeof rest[0] === "string" ? rest[0] : undefined;
      setGiven(response, rest.at(-1));
      merge(response, headersOf());
      return writeHead(status, reason);
    };
  }
}

/** No stream of the application can fail here, because the host responds. */
function ignore(): void {}

function rawOf<T extends object>(message: T | { readonly raw: T }): T {
  return "raw" in message ? message.raw : message;
}

/** Sets the headers that were passed to `writeHead`: an object, or names and values in turn. */
function setGiven(response: ServerResponse, given: unknown): void {
  if (typeof given !== "object" || given === null) return;
  if (!Array.isArray(given)) {
    for (const [name, value] of Object.entries(given))
      if (value !== undefined) response.setHeader(name, value as string);
    return;
  }
  const list = (given.every((entry) => Array.isArray(entry)) ? given.flat() : given) as readonly string[];
  const names = list.filter((_, index) => index % 2 === 0);
  for (const name of names) response.removeHeader(name);
  for (const [index, name] of names.entries()) response.appendHeader(name, [list[index * 2 + 1] as string].flat());
}

/** Adds the application's headers to those of the host, which stay as they are. */
function merge(response: ServerResponse, headers: ResponseHeaders): void {
  const { "set-cookie": cookies = [], vary, "cache-control": caching, ...others } = headers;
  for (const [name, value] of Object.entries(others)) if (!response.hasHeader(name)) response.setHeader(name, value);
  if (vary !== undefined) response.setHeader("vary", joined(response.getHeader("vary"), String(vary)));
  const isSent = addCookies(response, typeof cookies === "string" ? [cookies] : cookies);
  // A cache must not give the session of one caller to another, whatever the host says about its page.
  if (isSent) response.setHeader("cache-control", caching ?? "private, no-store");
  else if (caching !== undefined && !response.hasHeader("cache-control")) response.setHeader("cache-control", caching);
}

function joined(before: number | string | readonly string[] | undefined, added: string): string {
  const names =
    before === undefined
      ? []
      : String(before)
          .split(",")
          .map((name) => name.trim());
  const known = new Set(names.map((name) => name.toLowerCase()));
  return [...names, ...added.split(", ").filter((name) => !known.has(name.toLowerCase()))].join(", ");
}

/** Adds the cookies that the host does not set itself. Returns whether there are any. */
function addCookies(response: ServerResponse, cookies: readonly string[]): boolean {
  const before = [response.getHeader("set-cookie") ?? []].flat().map(String);
  const known = new Set(before.map(nameOf));
  const added = cookies.filter((cookie) => !known.has(nameOf(cookie)));
  if (added.length === 0) return false;
  // Node would append to the list that the host has passed, and the host may use that list for every response.
  response.setHeader("set-cookie", [...before, ...added]);
  return true;
}

function nameOf(cookie: string): string {
  return cookie.split("=", 1)[0] as string;
}
