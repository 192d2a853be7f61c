import { join } from "node:path";
import { mergeConfig, type ViteUserConfig } from "vitest/config";
import all from "../../vitest.config.ts";
import { mutatedSources } from "./mutated-sources.ts";

// Set by whole-suite.ts: where the instrumented files are. The active mutant is in the environment as well.
const { PORTICO_INSTRUMENTED = "" } = process.env;

const config: ViteUserConfig = mergeConfig(all, {
  root: join(import.meta.dirname, "../.."),
  plugins: [mutatedSources(PORTICO_INSTRUMENTED)],
  // Vitest's own cache knows the files by their original text.
  test: { fsModuleCachePath: join(PORTICO_INSTRUMENTED, "vitest-cache-whole") },
});
export default config;
