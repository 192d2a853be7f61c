import { glob, readFile } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import type { Plugin } from "esbuild";

/** The folders of the command line, which load the rest when they need it. */
const CALLERS = ["cli", "audit"];
/** The entry of what the command itself loads. It has to run where no database and no GraphQL is installed. */
const START = "start";

/**
 * Joins the modules of a folder that the command line imports late to one entry. Each entry splits the code that it shares with
 * others, so an entry per module would make applications load many small files: 53 instead of 21 for `portico/auth`.
 */
export async function joinedImports(dist: string): Promise<Plugin> {
  const modules = await lateModules(dist);
  // Whole entry points, so that an entry splits none of them.
  const doors = ["index.js", "auth/index.js"].map((file) => join(dist, file));
  return {
    name: "joined imports",
    setup(build) {
      build.onResolve({ filter: /^\./ }, ({ kind, importer, resolveDir, path }) => {
        if (kind !== "dynamic-import" || !CALLERS.includes(folderOf(dist, importer))) return undefined;
        return { path: entryOf(dist, importer, join(resolveDir, path)), namespace: "late" };
      });
      build.onLoad({ filter: /.*/, namespace: "late" }, ({ path: entry }) => ({
        contents: [...(modules.get(entry) ?? []), ...(entry === START ? [] : doors)]
          .map((file) => `export * from ${JSON.stringify(file)};`)
          .join("\n"),
        resolveDir: dist,
      }));
    },
  };
}

async function lateModules(dist: string): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const modules = new Map<string, Set<string>>();
  for await (const file of glob(`{${CALLERS.join(",")}}/**/*.js`, { cwd: dist })) {
    const text = await readFile(join(dist, file), "utf8");
    for (const [, path = ""] of text.matchAll(/\bimport\("(\.[^"]+)"\)/g)) {
      const module = join(dist, dirname(file), path);
      const entry = entryOf(dist, join(dist, file), module);
      modules.set(entry, (modules.get(entry) ?? new Set()).add(module));
    }
  }
  return modules;
}

/** The entry that a module is part of. What the audit itself imports late needs GraphQL. */
function entryOf(dist: string, importer: string, module: string): string {
  if (importer === join(dist, "cli/portico.js")) return START;
  const folder = folderOf(dist, module);
  return folder === "audit" && folderOf(dist, importer) === "audit" ? "audit of graphs" : folder;
}

/** The first folder of a module in `src/`. What is above the adapters is one. */
function folderOf(dist: string, file: string): string {
  const [folder = ""] = relative(dist, file).split(sep);
  return ["auth", "sql", "redis", "graphql", ...CALLERS].includes(folder) ? folder : "base";
}
