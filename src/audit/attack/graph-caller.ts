import { type Operation, withoutFiles } from "../targets/operation.ts";
import type { AttackIdentity } from "./attack-identity.ts";
import type { Transport } from "./attack-report.ts";
import type { Expected } from "./expected.ts";
import { GraphSocket, type SocketResult } from "./graph-socket.ts";
import { graphOutcome, type Outcome, parseGraphBody, routeOutcome } from "./outcome.ts";
import type { Wire, WireRequest, WireResponse } from "./wire.ts";

export type GraphTransport = Exclude<Transport, "HTTP" | "WebSocket">;

/** The endpoint that operations are sent to. */
export interface Endpoint {
  readonly path: string;
  readonly hasSocket: boolean;
  /** A content type that its uploads accept. */
  readonly fileType: string;
}

/** How long an open subscription is watched for a late refusal. */
const QUIET_MS = 250;
/** How long a refusal may take that has to come. */
const TIMEOUT_MS = 4_000;

/** Sends operations to an endpoint by each transport. Operations of one identity share a socket. */
export class GraphCaller {
  readonly #wire: Wire;
  readonly #endpoint: Endpoint;
  readonly #sockets = new Map<AttackIdentity, Promise<GraphSocket | WireResponse>>();

  constructor(wire: Wire, endpoint: Endpoint) {
    this.#wire = wire;
    this.#endpoint = endpoint;
  }

  /** The transports that can carry this operation. */
  transports({ kind, variables }: Operation): readonly GraphTransport[] {
    const socket: readonly GraphTransport[] = this.#endpoint.hasSocket ? ["GraphQL WebSocket"] : [];
    if (kind === "subscription") return ["GraphQL SSE", ...socket];
    const hasFile = withoutFiles({ variables } as Operation).files.length > 0;
    if (hasFile) return ["GraphQL upload"];
    const read: readonly GraphTransport[] = kind === "query" ? ["GraphQL GET"] : [];
    return ["GraphQL POST", ...read, "GraphQL batch", "GraphQL upload", "GraphQL SSE", ...socket];
  }

  async send(
    operation: Operation,
    transport: GraphTransport,
    identity: AttackIdentity,
    expected: Expected,
  ): Promise<Outcome> {
    if (transport === "GraphQL WebSocket") return this.#bySocket(operation, identity, expected);
    const response = await this.#wire.request(this.#request(operation, transport, identity));
    const isStream = response.type.startsWith("text/event-stream");
    if (isStream && operation.kind === "subscription") return { verdict: "let in", found: "an open event stream" };
    const body = parseGraphBody(response.text, transport === "GraphQL batch" ? 1 : 0);
    return body === null ? routeOutcome(response, expected) : graphOutcome(body, operation, expected);
  }

  async close(): Promise<void> {
    for (const opening of this.#sockets.values()) {
      const socket = await opening.catch(() => null);
      if (socket instanceof GraphSocket) socket.close();
    }
  }

  #request(
    operation: Operation,
    transport: Exclude<GraphTransport, "GraphQL WebSocket">,
    { headers }: AttackIdentity,
  ): WireRequest {
    const { path } = this.#endpoint;
    const { plain } = withoutFiles(operation);
    const entry = { query: operation.query, variables: plain };
    const json = { ...headers, "content-type": "application/json", accept: "application/json" };
    switch (transport) {
      case "GraphQL GET": {
        const search = new URLSearchParams({ query: operation.query, variables: JSON.stringify(plain) });
        return { method: "GET", path: `${path}?${search}`, headers: { ...headers, accept: "application/json" } };
      }
      case "GraphQL batch":
        return { method: "POST", path, headers: json, body: JSON.stringify([{ query: "{ __typename }" }, entry]) };
      case "GraphQL upload":
        return { method: "POST", path, ...this.#multipart(operation, headers) };
      case "GraphQL SSE": {
        // An error of a subscription may come as JSON, so that an event stream means that it has started.
        const isLive = operation.kind === "subscription";
        const accept = isLive ? "text/event-stream, application/json" : "text/event-stream";
        return {
          method: "POST",
          path,
          headers: { ...json, accept },
          body: JSON.stringify(entry),
          awaitsEvent: !isLive,
        };
      }
      case "GraphQL POST":
        return { method: "POST", path, headers: json, body: JSON.stringify(entry) };
    }
  }

  #multipart(operation: Operation, headers: AttackIdentity["headers"]): Pick<WireRequest, "headers" | "body"> {
    const { plain, files } = withoutFiles(operation);
    const edge = "portico-audit-edge";
    const part = (name: string, content: string, more = ""): string =>
      `--${edge}\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n${content}\r\n`;
    const map = files.length === 0 ? {} : { 0: files };
    const type = `; filename="audit"\r\ncontent-type: ${this.#endpoint.fileType}`;
    const body = [
      part("operations", JSON.stringify({ query: operation.query, variables: plain })),
      part("map", JSON.stringify(map)),
      ...(files.length === 0 ? [] : [part("0", "audit", type)]),
      `--${edge}--\r\n`,
    ].join("");
    return {
      headers: {
        ...headers,
        accept: "application/json",
        "content-type": `multipart/form-data; boundary=${edge}`,
        "graphql-require-preflight": "1",
      },
      body,
    };
  }

  async #bySocket(operation: Operation, identity: AttackIdentity, expected: Expected): Promise<Outcome> {
    const opening = this.#sockets.get(identity) ?? GraphSocket.open(this.#wire, this.#endpoint.path, identity.headers);
    this.#sockets.set(identity, opening);
    const socket = await opening;
    if (!(socket instanceof GraphSocket)) return routeOutcome(socket, expected);
    const mayStayOpen = operation.kind === "subscription" && expected.answer === "let in";
    const patienceMs = mayStayOpen ? QUIET_MS : TIMEOUT_MS;
    return socketOutcome(await socket.run(operation, patienceMs), operation, expected);
  }
}

/** 4403: the endpoint refused the caller; 1013: it was too busy. */
function socketOutcome(result: SocketResult, operation: Operation, expected: Expected): Outcome {
  if (result === null) return { verdict: "let in", found: "an open subscription" };
  if (!("closed" in result)) return graphOutcome(result, operation, expected);
  const found = `close code ${result.closed}`;
  return { verdict: result.closed === 4403 ? "refused" : "undecided", found };
}
