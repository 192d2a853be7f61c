import { BaseContext, Depend, HttpContext, provide, WebSocketContext } from "portico";
import { type FormattedError, field, schema, subscription, t } from "portico/graphql";
import { describe, expect, it } from "vitest";
import { openGraph, wsClient } from "./open.ts";

const method = provide({ http: HttpContext })(({ http }) => http.request.method);
const types = schema({
  query: { method: field(t.nullable(t.string), { params: { method: Depend(method) } })(({ method }) => method) },
  subscription: {
    socket: subscription(t.string, { params: { ws: WebSocketContext } })(async function* ({ ws }) {
      yield ws.socket.protocol;
    }),
    http: subscription(t.string, { params: { method: Depend(method) } })(async function* ({ method }) {
      yield method;
    }),
    any: subscription(t.string, { params: { connection: BaseContext } })(async function* ({ connection }) {
      yield connection.kind;
    }),
    shared: subscription(t.string, { shared: true, params: { ws: WebSocketContext } })(async function* ({ ws }) {
      yield ws.kind;
    }),
  },
});

interface Event {
  readonly data?: unknown;
  readonly errors?: readonly FormattedError[];
}
const told = ({ data, errors }: Event): unknown =>
  errors === undefined ? data : errors.map(({ extensions, message }) => `${extensions.code}: ${message}`);

/** The first event of the subscription, over a socket and as a stream of events. */
async function bothWays(name: string): Promise<readonly unknown[]> {
  const { client, url } = await openGraph(types);
  const query = `subscription { ${name} }`;
  const socket = await wsClient(url)
    .iterate({ query })
    .next()
    .then(({ value }) => value as Event)
    .catch((errors: readonly FormattedError[]) => ({ errors }));
  const stream = await client.post("/graphql", { body: { query }, headers: { accept: "text/event-stream" } });
  return [told(socket), told(JSON.parse(/data: (\{.*\})/.exec(stream.text())?.[1] ?? "{}") as Event)];
}

const NEEDS_SOCKET =
  "OPERATION_NEEDS_SOCKET: This operation requires a WebSocket: the parameter ws is a WebSocketContext";
const NEEDS_HTTP = "OPERATION_NEEDS_HTTP: This operation requires HTTP: the parameter http is an HttpContext";

describe("a subscription that declares a context", () => {
  it("reports the required transport in its error code", async () => {
    expect(await bothWays("socket")).toEqual([{ socket: "graphql-transport-ws" }, [NEEDS_SOCKET]]);
    expect(await bothWays("http")).toEqual([[NEEDS_HTTP], { http: "POST" }]);
  });

  it("runs over both transports if it declares BaseContext", async () => {
    expect(await bothWays("any")).toEqual([{ any: "websocket" }, { any: "http" }]);
  });

  it("cannot declare one when it is shared", async () => {
    const refusal = [expect.stringMatching(/^SHARED_SUBSCRIPTION: /)];

    expect(await bothWays("shared")).toEqual([refusal, refusal]);
  });

  it("is the only field that fails in a query on a socket", async () => {
    const { url } = await openGraph(types, { subscriptions: { operations: true } });

    const { value } = await wsClient(url).iterate({ query: "{ method }" }).next();

    expect(value).toMatchObject({ data: { method: null } });
    expect(told(value as Event)).toEqual([NEEDS_HTTP]);
  });
});
