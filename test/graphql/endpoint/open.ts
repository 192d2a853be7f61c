import type { GraphQLSchema } from "graphql";
import { PorticoApp, type PorticoAppOptions } from "portico";
import { type FormattedError, Graph, type GraphOptions } from "portico/graphql";
import { type LiveClient, type LogCatcher, liveClient, logCatcher, type TestResponse } from "portico/testing";
import { onTestFinished } from "vitest";
import { type Served, serveFixture } from "./fixture.ts";

export const GRAPHQL_TYPE = "application/graphql-response+json";

/** The body of a response. */
export interface GraphBody {
  readonly data?: Readonly<Record<string, unknown>> | null;
  readonly errors?: readonly FormattedError[];
  readonly extensions?: { readonly cost?: Readonly<Record<string, number>> } & Readonly<Record<string, unknown>>;
}

/** The fixture over a real socket until the test ends. */
export async function open(options: GraphOptions = {}, appOptions: PorticoAppOptions = {}): Promise<Served> {
  const served = await serveFixture(options, appOptions);
  onTestFinished(() => served.client.close());
  return served;
}

/** An application over a real socket until the test ends. */
export async function openApp(app: PorticoApp): Promise<LiveClient> {
  const client = await liveClient(app);
  onTestFinished(() => client.close());
  return client;
}

/** A schema at `/graphql`, likewise. */
export async function openSchema(
  schema: GraphQLSchema,
  options: GraphOptions = {},
  appOptions: PorticoAppOptions = {},
): Promise<{ readonly client: LiveClient; readonly log: LogCatcher; readonly graph: Graph }> {
  const log = logCatcher();
  const app = new PorticoApp({ logger: log, ...appOptions });
  const graph = new Graph(schema, options).mount(app);
  return { client: await openApp(app), log, graph };
}

export function bodyOf(response: TestResponse): GraphBody {
  return response.json() as GraphBody;
}

export function codesOf(response: TestResponse): readonly unknown[] {
  return (bodyOf(response).errors ?? []).map(({ extensions }) => extensions.code);
}

/** Status and codes in one, for tables of refusals. */
export function verdictOf(response: TestResponse): readonly unknown[] {
  return [response.status, ...codesOf(response)];
}

/** A body of JSON of exactly so many bytes that asks for `{ hello }`. */
export function bodyOfSize(bytes: number): string {
  const empty = JSON.stringify({ query: "{ hello }", padding: "" });
  return JSON.stringify({ query: "{ hello }", padding: "x".repeat(bytes - empty.length) });
}

export const JSON_BODY = { "content-type": "application/json" } as const;
