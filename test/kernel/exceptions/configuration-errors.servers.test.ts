import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { inspect, promisify } from "node:util";
import { build } from "esbuild";
import { type ConfigurationError, PorticoApp, Router } from "portico";
import { authentication } from "portico/auth";
import { Graph } from "portico/graphql";
import { describe, expect, it, onTestFinished } from "vitest";

const root = resolve(import.meta.dirname, "../../..");

const wrongOptions: readonly [name: string, build: () => unknown][] = [
  ["an application", () => new PorticoApp({ timeouts: { requestSeconds: -1 } })],
  ["a route", () => new PorticoApp({ logger: false }).get("books", () => "")],
  ["a list of middleware", () => new Router({ middleware: [1 as never] })],
  ["authentication", () => authentication({} as never)],
  ["a graph", () => new Graph({} as never, {})],
];

describe("an uncaught ConfigurationError", () => {
  it.each(wrongOptions)("of %s shows the line of the application first", (_, build) => {
    const frames = thrownBy(build)
      .stack?.split("\n")
      .filter((line) => line.startsWith("    at "));

    expect(frames?.[0]).toContain(import.meta.filename);
  });

  it("keeps the whole stack in an application that is bundled into one file", async () => {
    await mkdir(join(root, ".cache"), { recursive: true });
    // Inside the repository, so that the bundle finds its packages.
    const folder = await mkdtemp(join(root, ".cache/bundled-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const outfile = join(folder, "app.mjs");
    const contents =
      'import { PorticoApp } from "portico";\n' +
      "try { new PorticoApp({ timeouts: { requestSeconds: -1 } }); } catch ({ stack }) { console.log(stack); }";
    await build({
      stdin: { contents, resolveDir: root },
      outfile,
      bundle: true,
      platform: "node",
      format: "esm",
      packages: "external",
      alias: { portico: join(root, "src/index.ts") },
    });

    const { stdout } = await promisify(execFile)(process.execPath, [outfile]);

    const frames = stdout.split("\n").filter((line) => line.startsWith("    at "));
    expect(frames.length).toBeGreaterThan(2);
    expect(frames.every((line) => line.includes(outfile) || line.includes("node:"))).toBe(true);
    expect(stdout).toContain("at new PorticoApp (");
  });

  it("shows its option and its code, but no status and headers of a response", () => {
    const error = thrownBy(() => new PorticoApp({ timeouts: { requestSeconds: -1 } }));
    const shown = inspect(error);

    expect(shown).toContain("ConfigurationError: PorticoApp.timeouts.requestSeconds must be");
    expect(shown.slice(shown.lastIndexOf("{"))).toBe(
      "{\n  code: 'CONFIGURATION_INVALID',\n  option: 'PorticoApp.timeouts.requestSeconds'\n}",
    );
    expect({ status: error.status, headers: error.headers }).toEqual({ status: 500, headers: {} });
  });
});

function thrownBy(build: () => unknown): ConfigurationError {
  try {
    build();
  } catch (error) {
    return error as ConfigurationError;
  }
  throw new Error("nothing was thrown");
}
