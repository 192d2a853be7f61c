import { realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, resolve } from "node:path";
import { ConfigurationError } from "../../core/configuration-error.ts";

let isChecked = false;

/**
 * Two copies of graphql in one process do not know each other's classes: an error of one is a stranger to the other, and
 * so is a schema. Stops when the application would load another copy than Portico does, or has done so, and names both.
 */
export function checkOneGraphql(): void {
  if (isChecked) return;
  const own = createRequire(import.meta.url);
  const ours = homeOf(own);
  // A bundle has graphql in itself.
  if (ours !== null) {
    const other = [applicationHome(), ...loadedHomes(own)].find((home) => home !== null && home !== ours);
    if (other !== undefined)
      throw new ConfigurationError(
        "graphql",
        `is there twice: Portico uses ${ours}, the application ${other}; install it once, as a dependency of the application`,
      );
  }
  isChecked = true;
}

/** What the script that was started would get. */
function applicationHome(): string | null {
  return homeOf(createRequire(resolve(process.argv[1] ?? "main.js")));
}

/** The copies that have been loaded as CommonJS; Node keeps no list of the others. */
function loadedHomes(require: NodeJS.Require): readonly string[] {
  return Object.keys(require.cache ?? {}).flatMap(
    (file) => /^.*[\\/]node_modules[\\/]graphql(?=[\\/]index\.js$)/.exec(file)?.[0] ?? [],
  );
}

/** The folder that `graphql` is loaded from; `null` where none is found, as in a bundle. */
function homeOf(require: NodeJS.Require): string | null {
  try {
    return dirname(realpathSync(require.resolve("graphql"))).replace(/[\\/]__dev__$/, "");
  } catch {
    return null;
  }
}
