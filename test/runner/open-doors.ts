import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";
import { doors } from "../../scripts/gate/doors.ts";

// For test files whose modules Node loads itself, as vitest.config.ts does for all others.
const isGraphql17 = process.env["PORTICO_GRAPHQL"] === "17";
const sources = new URL("../../src/", import.meta.url).href;
const urls = new Map(Object.entries(doors).map(([name, file]) => [name, pathToFileURL(file).href]));

registerHooks({
  resolve(specifier, context, next) {
    const url = urls.get(specifier) ?? sourceOf(specifier, context.parentURL);
    // Node would look for the file and for the nearest package.json, for each of several thousand imports in each process.
    if (url !== undefined) return { url, format: "module-typescript", shortCircuit: true };
    return next(isGraphql17 ? specifier.replace(/^graphql(?=\/|$)/, "graphql17") : specifier, context);
  },
});

/** The address of a file of `src/` that another one imports. */
function sourceOf(specifier: string, parent: string | undefined): string | undefined {
  const isOwn = specifier.startsWith(".") && specifier.endsWith(".ts") && parent?.startsWith(sources) === true;
  return isOwn ? new URL(specifier, parent).href : undefined;
}
