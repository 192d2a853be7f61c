import { realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, sep } from "node:path";
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
  const others = [process.argv[1], `${process.cwd()}${sep}app.js`].flatMap((file) => (file === undefined ? [] : homeOf(createRequire(file)) ?? []));
  const loaded = Object.keys(own.cache ?? {}).flatMap((file) => /^.*[\\/]node_modules[\\/]graphql(?=[\\/]index\.js$)/.exec(file)?.[0] ?? []);
  const other = ours === null ? undefined : [...others, ...loaded].find((home) => home !== ours);
  if (other !== undefined)
    throw new ConfigurationError("graphql", `is there twice: Portico uses ${String(ours)}, the application ${other}; install it once, as a dependency of the application`);
  isChecked = true;
}

/** The folder that `graphql` is loaded from; `null` where none is found, as in a bundle. */
function homeOf(require: NodeJS.Require): string | null {
  try {
    return dirname(realpathSync(require.resolve("graphql"))).replace(/[\\/]__dev__$/, "");
  } catch {
    return null;
  }
}
