import { existsSync, globSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join, sep } from "node:path";
import { defineConfig, type ViteUserConfig } from "vitest/config";
import all, { measured, patience } from "./vitest.config.ts";

// npm run test:quick: the tests that need no PostgreSQL, MariaDB, Redis or Chromium, start no process and build nothing.
const SLOW = /"(?:pg|mysql2|playwright-core|vitepress|node:child_process)"|\b(?:redis|postgres):\/\/\S*127\.0\.0\.1/;
// Linux lists the open files of a process in /proc, and has every address of 127.0.0.0/8.
const LINUX = /\/proc\/|"127\.0\.0\.2"/;

/** Whether a test, or a file of the tests that it imports, needs a server, a process, a build or another system. */
function isSlow(file: string, above: readonly string[] = []): boolean {
  const text = readFileSync(file, "utf8");
  const imported = [...text.matchAll(/from "(\.[^"]+\.ts)"/g)].map(([, path = ""]) => join(dirname(file), path));
  const helpers = imported.filter(
    (helper) => helper.startsWith("test") && !above.includes(helper) && existsSync(helper),
  );
  const isBound = SLOW.test(text) || (process.platform !== "linux" && LINUX.test(text));
  return isBound || helpers.some((helper) => isSlow(helper, [...above, file]));
}

const files = globSync("test/**/*.test.ts", {
  exclude: [...measured, "test/access/gate-matrix.test.ts", "test/graphql/{corpus,ide}/**", "test/auth/passwords/**"],
});

// Vitest takes these as patterns, in which a backslash escapes the next character.
const include = files.filter((file) => !isSlow(file)).map((file) => file.replaceAll(sep, "/"));

const config: ViteUserConfig = defineConfig({
  resolve: all.resolve ?? {},
  test: { include, ...patience, maxWorkers: availableParallelism() + 1 },
});
export default config;
