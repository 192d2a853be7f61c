import { type Channel, channel } from "node:diagnostics_channel";
import type { Route } from "./http/routing/route.ts";
import type { ResolvedAppOptions } from "./portico-app-options.ts";

/** The addresses of an application that listens. */
export interface ListeningReport {
  readonly url: string;
  /** The pages that a developer opens, by name. */
  readonly pages: readonly { readonly name: string; readonly path: string }[];
}

/** Receives a `ListeningReport` when an application listens. `portico dev` subscribes to it. */
export const listeningReports: Channel = channel("portico.listening");

/** Builds the report of an application. */
export function listeningReport(
  url: string,
  { openapi, health }: ResolvedAppOptions,
  routes: readonly Route[],
): ListeningReport {
  const graphs = new Map(routes.flatMap(({ graph, path }) => (graph === undefined ? [] : [[path, graph]])));
  const pages = [
    ...(openapi === false || openapi.page === false ? [] : [{ name: "API reference", path: openapi.page }]),
    ...[...graphs].map(([path, graph]) => {
      const hasExplorer = "hasExplorer" in graph && graph.hasExplorer === true;
      return { name: hasExplorer ? "GraphiQL" : "GraphQL", path };
    }),
    ...routes.flatMap(({ path, pageName: name }) => (name === undefined ? [] : [{ name, path }])),
    ...(health === false ? [] : [{ name: "Health", path: health.ready }]),
  ];
  return { url, pages };
}
