import { join } from "node:path";
import { isProduction } from "../../../core/env.ts";
import type { PorticoApp } from "../../../portico-app.ts";
import { graphsOf } from "../../project/graphs-of.ts";
import { attempt, type Finding, ok, warning } from "./finding.ts";

/** Checks that graphql is installed once, and what production shows of the API to anyone. */
export async function checkGraphs(app: PorticoApp, cwd: string): Promise<readonly Finding[]> {
  return [...(await checkGraphql(app, cwd)), ...checkExposure(app)];
}

async function checkGraphql(app: PorticoApp, cwd: string): Promise<readonly Finding[]> {
  if (graphsOf(app).size === 0) return [];
  return attempt("graphql", async () => {
    const { checkOneGraphql } = await import("../../../graphql/schema/check-one-graphql.ts");
    checkOneGraphql(join(cwd, "portico.config.ts"));
    return ok("graphql", "graphql is installed once");
  });
}

function checkExposure(app: PorticoApp): readonly Finding[] {
  if (!isProduction()) return [];
  const graphs = [...graphsOf(app)].flatMap(([path, { hasIntrospection, hasExplorer }]) => [
    ...(hasIntrospection
      ? [warning("exposure", `Graph.introspection is enabled at ${path}, so anyone can read the schema. Disable it`)]
      : []),
    ...(hasExplorer ? [warning("exposure", `Graph.ide is enabled at ${path} in production. Disable it`)] : []),
  ]);
  const { openapi } = app.settings;
  const documents =
    openapi === false
      ? []
      : [warning("exposure", `PorticoApp.openapi is enabled, so anyone can read ${openapi.document}. Disable it`)];
  const found = [...graphs, ...documents];
  return found.length === 0 ? [ok("exposure", "introspection, GraphiQL and the OpenAPI document are disabled")] : found;
}
