// Inside Portico's own repository, the example runs on the framework's sources and on the Prisma in tools/prisma. Everywhere
// else, it runs on the installed packages.
import { existsSync } from "node:fs";
import { registerHooks } from "node:module";

const sources = new URL("../../src/", import.meta.url);
const tools = new URL("../../tools/prisma/package.json", import.meta.url);
if (existsSync(new URL("index.ts", sources)))
  registerHooks({
    resolve(specifier, context, next) {
      const [, entry = ""] = /^portico(\/\w+)?$/.exec(specifier) ?? [undefined, null];
      if (entry !== null) return next(new URL(`.${entry}/index.ts`, sources).href, context);
      return next(specifier, specifier.startsWith("@prisma/") ? { ...context, parentURL: tools.href } : context);
    },
  });
