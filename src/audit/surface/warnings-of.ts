import { isProduction } from "../../core/env.ts";
import type { Graph } from "../../graphql/graph/graph.ts";
import { objectOf } from "../../http/routing/middleware.ts";
import { decidesByColumns, ruleIn } from "../../kernel/access/gate-node.ts";
import type { CursorPagination } from "../../pagination/strategies/cursor-pagination.ts";
import type { PorticoApp } from "../../portico-app.ts";
import type { AccessEntry } from "./access-entry.ts";
import { endpointsOf, surfaceOf } from "./surface-of.ts";

/** A known danger in the declaration of an application. */
export interface AccessWarning {
  readonly place: string;
  /** The rest of the sentence that begins with the place. */
  readonly sentence: string;
}

/** The known dangers in the declarations of an application. */
export async function warningsOf(app: PorticoApp): Promise<readonly AccessWarning[]> {
  const { routes, sockets } = app.table;
  const objects = new Set([...routes, ...sockets].flatMap(({ middleware }) => middleware.map(objectOf)));
  const warnings = [...objects].flatMap((object) =>
    (object?.warnings ?? []).map((sentence): AccessWarning => ({ place: "middleware", sentence })),
  );
  if (app.settings.publicRead)
    warnings.push({
      place: "PorticoApp.publicRead",
      sentence: "lets the pages of every origin read responses without cookies",
    });
  for (const { method, path, forms, paginated } of routes) {
    const place = `${method} ${path}`;
    if (forms === true)
      warnings.push({ place, sentence: "accepts forms, which pages of other origins can send without a preflight" });
    if (paginated !== undefined && (paginated.strategy as Partial<CursorPagination>).decodeCursor !== undefined)
      warnings.push({ place, sentence: DECODES });
  }
  for (const { graph, path } of endpointsOf(app)) {
    const { schemaWarnings } = await import("./schema-warnings.ts");
    warnings.push(...endpointWarnings(graph, path), ...schemaWarnings(graph.schema));
  }
  return [...warnings, ...listWarnings(await surfaceOf(app))];
}

/** About a list whose strategy has `decodeCursor`. */
export const DECODES =
  "reads the cursors of another server (decodeCursor): clients choose the place where such a page begins";

function endpointWarnings(
  { uploads, hasIntrospection, hasExplorer, hasUnmaskedErrors, invalidAsOk }: Graph,
  path: string,
): readonly AccessWarning[] {
  const warnings: AccessWarning[] = [];
  if (uploads.enabled && uploads.contentTypes.length === 0)
    warnings.push({
      place: path,
      sentence: "accepts files of any type: list the allowed ones in uploads.contentTypes",
    });
  if (hasUnmaskedErrors)
    warnings.push({
      place: path,
      sentence: "gives masked errors to formatError (unmasked: true): what it returns about them reaches clients",
    });
  if (invalidAsOk)
    warnings.push({ place: path, sentence: "sends operations that are not valid with 200 (invalidAsOk)" });
  if (!isProduction()) return warnings;
  if (hasIntrospection)
    warnings.push({ place: path, sentence: "shows its schema to anyone in production: set introspection: false" });
  if (hasExplorer)
    warnings.push({ place: path, sentence: "serves GraphiQL in production: set ide: { enabled: false }" });
  return warnings;
}

/** A list whose rule has no `where` is read row by row, so it cannot be a list of database rows. */
function listWarnings(surface: readonly AccessEntry[]): readonly AccessWarning[] {
  return surface.flatMap(({ kind, place, gate }) => {
    const rule = kind === "list" && gate !== null && !decidesByColumns(gate) ? ruleIn(gate) : null;
    if (rule === null) return [];
    return [{ place, sentence: `lists rows of the rule ${rule.name}, which has no where: a database cannot apply it` }];
  });
}
