import { realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, resolve } from "node:path";
import { ConfigurationError } from "../../core/configuration-error.ts";

const checked = new Set<string>();

/**
 * Throws if the application would load, or has loaded, another copy of graphql than Portico, and names both. Two copies
 * in one process do not recognise each other's classes, such as errors and schemas.
 *
 * @param entry a file of the application
 */
export function checkOneGraphql(entry: string = process.argv[1] ?? "main.js"): void {
  if (checked.has(entry)) return;
  const own = createRequire(import.meta.url);
  const ours = homeOf(own);
  // A bundle contains graphql, so there is nothing to resolve.
  if (ours !== null) {
    const other = [applicationHome(entry), ...loadedHomes(own)].find((home) => home !== null && home !== ours);
    if (other !== undefined)
      throw new ConfigurationError(
        "graphql",
        `is loaded twice: Portico uses ${ours}, the application uses ${other}. Install it once, as a dependency of the application`,
      );
  }
  checked.add(entry);
}

/** The copy that a file of the application would load. */
function applicationHome(entry: string): string | null {
  return homeOf(createRequire(resolve(entry)));
}

/** The copies that were loaded as CommonJS. Node keeps no list of ES modules. */
function loadedHomes(require: NodeJS.Require): readonly string[] {
  return Object.keys(require.cache ?? {}).flatMap(
    (file) => /^.*[\\/]node_modules[\\/]graphql(?=[\\/]index\.js$)/.exec(file)?.[0] ?? [],
  );
}

/** The folder that `graphql` is loaded from; `null` if it cannot be resolved, as in a bundle. */
function homeOf(require: NodeJS.Require): string | null {
  try {
    return dirname(realpathSync(require.resolve("graphql"))).replace(/[\\/]__dev__$/, "");
  } catch {
    return null;
  }
}
