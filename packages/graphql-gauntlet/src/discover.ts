import { isExecuted } from "./answer.ts";
import { type HttpRequest, NoResponse, send, type Target } from "./send.ts";
import { acceptsSocket } from "./talk.ts";

/** The features of the server, found by harmless requests before the rows are run. */
export interface Found {
  /** The name of the query type. */
  readonly queryType: string;
  /** Whether the schema has a mutation type. */
  readonly mutation: boolean;
  /** The headers with which queries over GET are executed, or null if they are not. */
  readonly getHeaders: Readonly<Record<string, string>> | null;
  /** Whether responses can be `application/json`. */
  readonly json: boolean;
  /** Whether introspection is on. */
  readonly introspection: boolean;
  /** Whether an array of two operations is executed. */
  readonly batch: boolean;
  /** Whether an upgrade to a WebSocket with this subprotocol is accepted. */
  readonly socket: boolean;
  readonly legacySocket: boolean;
}

/** The rows cannot be run: the server is unreachable, or it does not execute `{ __typename }`. */
export class CannotRun extends Error {
  override readonly name: string = "CannotRun";
}

const TYPENAME = JSON.stringify({ query: "{ __typename }" });
/** Headers that some servers require of queries over GET, so that a form or an image of another site cannot send them. */
const PREFLIGHT = { "apollo-require-preflight": "1", "graphql-require-preflight": "1", "x-graphql-yoga-csrf": "1" };

/** Looks at the server, and at its WebSockets if asked to. Throws `CannotRun` if it does not execute `{ __typename }`. */
export async function discover(target: Target, withSockets: boolean): Promise<Found> {
  const { queryType, accept } = await greet(target);
  const runs = async (request: HttpRequest): Promise<boolean> => {
    try {
      return isExecuted(await send(target, { ...request, headers: { accept, ...request.headers } }));
    } catch (error) {
      if (error instanceof NoResponse) return false;
      throw error;
    }
  };
  const get = (headers: Readonly<Record<string, string>>): Promise<boolean> =>
    runs({ method: "GET", params: [["query", "{__typename}"]], headers });

  const asJson = async (): Promise<boolean> => {
    const answer = await send(target, { body: TYPENAME, headers: { accept: "application/json" } });
    return isExecuted(answer) && answer.type === "application/json";
  };
  const getHeaders = async (): Promise<Found["getHeaders"]> =>
    (await get({})) ? {} : (await get(PREFLIGHT)) ? PREFLIGHT : null;
  const found = await Promise.all([
    runs({ body: JSON.stringify({ query: "mutation { __typename }" }) }),
    getHeaders(),
    asJson(),
    runs({ body: JSON.stringify({ query: "{ __schema { queryType { name } } }" }) }),
    runs({ body: `[${TYPENAME},${TYPENAME}]` }),
    withSockets && acceptsSocket(target, "graphql-transport-ws"),
    withSockets && acceptsSocket(target, "graphql-ws"),
  ]);
  const [mutation, headers, json, introspection, batch, socket, legacySocket] = found;
  return { queryType, mutation, getHeaders: headers, json, introspection, batch, socket, legacySocket };
}

async function greet(target: Target): Promise<{ readonly queryType: string; readonly accept: string }> {
  let last = "";
  // A server that does not know the newer media type is still worth testing.
  for (const accept of ["application/graphql-response+json, application/json;q=0.9", "*/*"]) {
    try {
      const answer = await send(target, { body: TYPENAME, headers: { accept } });
      const queryType = (answer.data as Readonly<Record<string, unknown>> | null | undefined)?.["__typename"];
      if (typeof queryType === "string") return { queryType, accept };
      last = `the server responded to { __typename } with ${answer.status}: ${answer.text.slice(0, 200)}`;
    } catch (error) {
      if (!(error instanceof NoResponse)) throw error;
      last = error.message;
    }
  }
  throw new CannotRun(last);
}
