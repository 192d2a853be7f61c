import type { Graph } from "../../graphql/graph/graph.ts";
import type { PorticoApp } from "../../portico-app.ts";
import { CommandFailed, UsageError } from "../output/command-failed.ts";

/** The GraphQL endpoints of the application by their path. */
export function graphsOf(app: PorticoApp): ReadonlyMap<string, Graph> {
  return new Map(
    app.table.routes.flatMap(({ path, graph }) => (graph === undefined ? [] : [[path, graph as Graph] as const])),
  );
}

/** The endpoint at the path, or the only one. */
export function graphAt(app: PorticoApp, path: string | undefined): readonly [path: string, graph: Graph] {
  const graphs = graphsOf(app);
  const paths = [...graphs.keys()];
  const chosen = path ?? paths[0];
  if (chosen === undefined) throw new CommandFailed("the application has no GraphQL endpoint: mount a Graph on it");
  if (path === undefined && paths.length > 1)
    throw new UsageError(`the application has several GraphQL endpoints: pass --path ${paths.join(" or --path ")}`);
  const graph = graphs.get(chosen);
  if (graph === undefined) throw new UsageError(`--path ${chosen}: the GraphQL endpoints are ${paths.join(", ")}`);
  return [chosen, graph];
}
