// Inside Portico's own repository the example runs on the framework's sources; everywhere else on the package.
import { existsSync } from "node:fs";
import { registerHooks } from "node:module";

const sources = new URL("../../../src/", import.meta.url);
if (existsSync(new URL("index.ts", sources)))
  registerHooks({
    resolve(specifier, context, next) {
      const [, door = ""] = /^portico(\/\w+)?$/.exec(specifier) ?? [undefined, null];
      return door === null ? next(specifier, context) : next(new URL(`.${door}/index.ts`, sources).href, context);
    },
  });
