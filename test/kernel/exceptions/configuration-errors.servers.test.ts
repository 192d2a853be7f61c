import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { inspect, promisify } from "node:util";
import { build } from "esbuild";
import { ConfigurationError, errorSerializer, PorticoApp, PorticoError, Router } from "portico";
import { authentication } from "portico/auth";
import { Graph } from "portico/graphql";
import { describe, expect, it, onTestFinished } from "vitest";

const root = resolve(import.meta.dirname, "../../..");

const DOCS = "https://github.com/portico-framework/portico/blob/main/docs/";
const wrongOptions: readonly [name: string, build: () => unknown][] = [
  ["an application", () => new PorticoApp({ timeouts: { requestSeconds: -1 } })],
  ["a route", () => new PorticoApp({ logger: false }).get("books", () => "")],
  ["a list of middleware", () => new Router({ middleware: [1 as never] })],
  ["authentication", () => authentication({} as never)],
  ["a graph", () => new Graph({} as never, {})],
];

describe("the address of the documentation", () => {
  it.each<[string, () => unknown, string]>([
    [
      "a route",
      () => new PorticoApp({ logger: false }).get("/x", { auht: true } as never, () => 1),
      "guide/routes.md#options",
    ],
    [
      "a rule of a route",
      () => new PorticoApp({ logger: false }).get("/x", { auth: undefined } as never, () => 1),
      "guide/authorization.md#errors",
    ],
    ["authentication", () => authentication({} as never), "reference/accounts.md"],
    [
      "an option that no section is about",
      () => new ConfigurationError("Shop.currency", "is missing"),
      "errors.md#CONFIGURATION_INVALID",
    ],
  ])("of %s is that of its section", (_, make, section) => {
    expect(thrownBy(make).docs).toBe(DOCS + section);
  });

  it("is that of the code for other errors of developers, and no client causes an error that has one", () => {
    expect(new PorticoError("STORE_FULL", "full", { status: 503 }).docs).toBe(`${DOCS}errors.md#STORE_FULL`);
    expect(Object.keys(new PorticoError("RATE_LIMITED", "slow down", { status: 429 }))).not.toContain("docs");
    expect(Object.keys(new PorticoError("OUT_OF_PAPER", "no paper"))).not.toContain("docs");
  });

  it("is logged with the error", () => {
    const error = thrownBy(() => new Graph({} as never, {}));

    expect(errorSerializer(error)).toMatchObject({ docs: error.docs });
  });
});

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

  it("shows its code, its option and last the address of its section, but no status and headers of a response", () => {
    const error = thrownBy(() => new PorticoApp({ timeouts: { requestSeconds: -1 } }));
    const shown = inspect(error);

    expect(shown).toContain("ConfigurationError: PorticoApp.timeouts.requestSeconds must be");
    expect(shown.slice(shown.lastIndexOf("{"))).toBe(
      `{\n  code: 'CONFIGURATION_INVALID',\n  option: 'PorticoApp.timeouts.requestSeconds',\n  docs: '${DOCS}reference/app.md#timeoutoptions'\n}`,
    );
    expect(error.docs).toBe(`${DOCS}reference/app.md#timeoutoptions`);
    expect({ status: error.status, headers: error.headers }).toEqual({ status: 500, headers: {} });
  });
});

function thrownBy(build: () => unknown): ConfigurationError {
  try {
    const made = build();
    if (made instanceof ConfigurationError) return made;
  } catch (error) {
    return error as ConfigurationError;
  }
  throw new Error("nothing was thrown");
}
