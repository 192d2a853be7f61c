import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import { mutatedSource } from "./mutated-sources.ts";

// `whole-suite.ts` loads this into each process of a test. The instrumented code finds the active mutant in the environment.
const { PORTICO_INSTRUMENTED = "" } = process.env;

registerHooks({
  load(url, context, next) {
    const source = url.startsWith("file:") ? mutatedSource(PORTICO_INSTRUMENTED, fileURLToPath(url)) : undefined;
    return source === undefined
      ? next(url, context)
      : { format: "module-typescript", source, shortCircuit: true as const };
  },
});
