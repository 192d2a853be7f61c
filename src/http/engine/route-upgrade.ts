import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Logger } from "../../core/logger.ts";
import { nodeHttp } from "../../core/node-http.ts";
import type { AcceptOptions, HttpExchange, RawSocket } from "../../kernel/exchange/exchange.ts";
import { acceptUpgrade, type PendingUpgrade } from "./accept-upgrade.ts";
import { acceptedExchange } from "./accepted-exchange.ts";
import { containErrors } from "./contain-errors.ts";
import { DelegatedExchange } from "./delegated-exchange.ts";
import { afterResponses, pendingResponse } from "./pending-response.ts";
import { takeOver } from "./take-over.ts";

/** A server that routes requests. A Fastify application is one. */
export interface RoutingServer {
  readonly server: object;
  readonly log: Logger;
  routing(request: IncomingMessage, response: ServerResponse): void;
}

/** How long the connection of a rejected upgrade is kept for a client that does not close it. */
const CUT_MS = 250;

/** Pending upgrades; `null` for those that cannot become a socket. */
const upgrades = new WeakMap<IncomingMessage, PendingUpgrade | null>();

/** The upgrade of a request that can become a socket; otherwise `null`. */
export function pendingUpgrade(request: IncomingMessage): PendingUpgrade | null {
  return upgrades.get(request) ?? null;
}

/** An upgrade that is neither accepted nor rejected yet. */
export class OpenUpgrade extends DelegatedExchange {
  protected inner: HttpExchange;
  #pending: PendingUpgrade | null;
  readonly #request: IncomingMessage;
  readonly #release: () => ServerResponse;

  /** @param release leaves the response to the socket */
  constructor(inner: HttpExchange, request: IncomingMessage, pending: PendingUpgrade, release: () => ServerResponse) {
    super();
    this.inner = inner;
    this.#request = request;
    this.#pending = pending;
    this.#release = release;
  }

  async accept(options: AcceptOptions): Promise<RawSocket> {
    if (this.#pending === null) throw new Error("the socket has already been accepted");
    const { socket, release } = this.#pending;
    this.#release().detachSocket(socket as never);
    release();
    const accepting = acceptUpgrade(this.#request, this.#pending, options);
    this.#pending = null;
    const accepted = await accepting;
    this.inner = acceptedExchange(this.inner);
    return accepted;
  }
}

/**
 * Routes an upgrade like any other request, through the same router and hooks.
 *
 * An upgrade that is pipelined behind a request whose response is still pending does not become a socket. It is served in turn
 * as a plain request, which RFC 9110 section 7.8 allows, and the connection is closed after it. So two responses never mix, and
 * no WebSocket client pipelines its handshake.
 */
export function routeUpgrade(
  host: RoutingServer,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer | null,
  started?: Promise<void>,
): void {
  // Two applications in one server both listen for upgrades, and the router has the routes of both.
  if (upgrades.has(request)) return;
  upgrades.set(request, null);
  // This must happen synchronously: Node no longer listens, and an unhandled error event would end the process.
  socket.on("error", ignore);
  const release = takeOver(host.server, socket);
  const respond = (): void =>
    containErrors(host.log, socket, async () => {
      await started;
      respondTo(host, request, socket);
    });
  if (pendingResponse(socket) !== null) return afterResponses(socket, respond);
  if (head !== null) upgrades.set(request, { socket, head, release });
  respond();
}

function respondTo(host: RoutingServer, request: IncomingMessage, socket: Duplex): void {
  const response = new nodeHttp.ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket as never);
  response.on("finish", () =>
    containErrors(host.log, socket, () => {
      response.detachSocket(socket as never);
      cutSoon(socket);
    }),
  );
  host.routing(request, response);
}

/**
 * Ends the connection of a rejected upgrade. Node no longer tracks it: a client that keeps its half open would block it, and
 * the shutdown of the process, indefinitely. Cutting it at once, with unread bytes, would lose the response.
 */
function cutSoon(socket: Duplex): void {
  socket.end();
  socket.resume();
  const cutting = setTimeout(() => socket.destroy(), CUT_MS).unref();
  socket.once("close", () => clearTimeout(cutting));
}

/**
 * A connection that breaks before it is accepted or rejected is not an error. The function is defined here because a closure
 * would keep the whole response in memory.
 */
function ignore(): void {}
