import type * as Inspector from "@graphql-inspector/core";
import type { Graph } from "../../../graphql/graph/graph.ts";
import { CommandFailed } from "../../output/command-failed.ts";

/** Whether a change breaks clients, may break some of them, or breaks none. */
export type Level = "breaking" | "dangerous" | "safe";

export interface SchemaChange {
  readonly level: Level;
  /** The coordinate of the changed part, such as `Query.books`. */
  readonly path: string | null;
  readonly message: string;
}

/** Lists the changes from the old schema to the new one, the worst first. */
export async function compareSchemas(old: Graph["schema"], current: Graph["schema"]): Promise<readonly SchemaChange[]> {
  const [{ diff }, { printSchema }, { readSchema }] = await Promise.all([
    loadInspector(),
    import("../../../graphql/schema/print-schema.ts"),
    import("../../../graphql/schema/read-schema.ts"),
  ]);
  // Both are compared as SDL, because a schema in memory may have other values behind its enums and defaults.
  const [before, after] = [old, current].map((schema) => readSchema(printSchema(schema)));
  const changes = await diff(before ?? null, after ?? null);
  return changes
    .map(({ criticality, path = null, message }) => ({ level: LEVELS[criticality.level], path, message }))
    .toSorted((a, b) => ORDER.indexOf(a.level) - ORDER.indexOf(b.level) || (a.message < b.message ? -1 : 1));
}

const ORDER: readonly Level[] = ["breaking", "dangerous", "safe"];
const LEVELS = { BREAKING: "breaking", DANGEROUS: "dangerous", NON_BREAKING: "safe" } as const;

async function loadInspector(): Promise<typeof Inspector> {
  try {
    return await import("@graphql-inspector/core");
  } catch (error) {
    if ((error as { code?: unknown }).code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new CommandFailed(
      "portico schema check compares schemas with GraphQL Inspector. Run: npm install --save-dev @graphql-inspector/core",
    );
  }
}
