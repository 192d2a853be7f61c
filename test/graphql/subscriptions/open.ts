import type { GraphQLSchema } from "graphql";
import { type Client, createClient } from "graphql-ws";
import { PorticoApp, type PorticoAppOptions } from "portico";
import { Graph, type GraphOptions } from "portico/graphql";
import { type LiveClient, liveClient, type TestSocket, type TestSocketOptions } from "portico/testing";
import { onTestFinished } from "vitest";
import { WebSocket } from "ws";

export interface OpenOptions extends GraphOptions {
  readonly app?: PorticoAppOptions;
  readonly declare?: (app: PorticoApp) => unknown;
  readonly graph?: (graph: Graph) => unknown;
}

export interface Opened {
  readonly client: LiveClient;
  readonly app: PorticoApp;
  /** The address of the socket. */
  readonly url: string;
}

/** An application with the endpoint, listening. */
export async function openGraph(schema: GraphQLSchema, options: OpenOptions = {}): Promise<Opened> {
  const { app: appOptions = {}, declare, graph: change, ...graphOptions } = options;
  const app = new PorticoApp({ logger: false, ...appOptions });
  declare?.(app);
  const graph = new Graph(schema, { ...graphOptions, subscriptions: graphOptions.subscriptions ?? {} });
  change?.(graph);
  graph.mount(app);
  const client = await liveClient(app);
  onTestFinished(() => client.close());
  return { client, app, url: `ws://127.0.0.1:${client.port}${options.path ?? "/graphql"}` };
}

export interface ClientOptions {
  readonly connectionParams?: Record<string, unknown>;
  readonly headers?: Record<string, string>;
  readonly on?: NonNullable<Parameters<typeof createClient>[0]["on"]>;
  readonly retryAttempts?: number;
}

/** The client that applications use: graphql-ws over ws. */
export function wsClient(url: string, options: ClientOptions = {}): Client {
  const { headers = {}, connectionParams, on, retryAttempts = 0 } = options;
  class WithHeaders extends WebSocket {
    constructor(address: string, protocols: string[]) {
      super(address, protocols, { headers });
    }
  }
  const client = createClient({
    url,
    webSocketImpl: WithHeaders,
    retryAttempts,
    lazy: true,
    ...(connectionParams === undefined ? {} : { connectionParams }),
    ...(on === undefined ? {} : { on }),
  });
  onTestFinished(() => client.dispose());
  return client;
}

/** The events of a subscription, in order, until it ended. Rejects with its errors. */
export async function collect(client: Client, query: string, variables?: Record<string, unknown>): Promise<unknown[]> {
  const results: unknown[] = [];
  for await (const { data, errors } of client.iterate({ query, ...(variables === undefined ? {} : { variables }) }))
    results.push(errors ?? data);
  return results;
}

/** A socket without a library: what goes over the wire. */
export async function rawSocket(
  client: LiveClient,
  options: TestSocketOptions & { readonly path?: string; readonly init?: boolean } = {},
): Promise<TestSocket & { say(message: unknown): void; hear(): Promise<Heard> }> {
  const { path = "/graphql", init = false, ...others } = options;
  const socket = await client.socket(path, { protocols: ["graphql-transport-ws"], ...others });
  onTestFinished(() => socket.terminate());
  const talking = Object.assign(socket, {
    say: (message: unknown) => socket.send(JSON.stringify(message)),
    hear: async () => JSON.parse(await socket.next()) as Heard,
  });
  if (init) {
    talking.say({ type: "connection_init" });
    await talking.hear();
  }
  return talking;
}

export interface Heard {
  readonly type: string;
  readonly id?: string;
  readonly payload?: any;
}
