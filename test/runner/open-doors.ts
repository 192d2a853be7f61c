import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";
import { doors } from "../../scripts/gate/doors.ts";

// For test files whose modules Node loads itself, as vitest.config.ts does for all others.
const isGraphql17 = process.env["PORTICO_GRAPHQL"] === "17";

registerHooks({
  resolve(specifier, context, next) {
    const source = doors[specifier];
    if (source !== undefined) return next(pathToFileURL(source).href, context);
    return next(isGraphql17 ? specifier.replace(/^graphql(?=\/|$)/, "graphql17") : specifier, context);
  },
});
