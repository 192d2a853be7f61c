import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { version } from "graphql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import manifest from "../../package.json" with { type: "json" };

const root = resolve(import.meta.dirname, "../..");

it("is tested with the requested major version of graphql", () => {
  expect(version.split(".")[0]).toBe(process.env["PORTICO_GRAPHQL"] ?? "16");
});

it("[RES-51] declares graphql as a peer dependency", () => {
  expect(manifest.peerDependencies).toMatchObject({ graphql: "^16.15.0 || ^17.0.0" });
  expect(manifest.dependencies).not.toHaveProperty("graphql");
});

it("[RES-50] defines the symbol that decorators need, in a module that bundlers must keep", async () => {
  await import("portico/graphql");

  expect((Symbol as { metadata?: symbol }).metadata).toBeTypeOf("symbol");
  expect(manifest.sideEffects).toEqual(["./dist/graphql/index.js"]);
});

describe("copies of graphql", () => {
  const place = realpathSync(mkdtempSync(join(tmpdir(), "portico-copies-")));
  const portico = join(place, "node_modules/portico");
  const main = (name: string, code: string): string => {
    const file = join(place, `${name}.mjs`);
    writeFileSync(
      file,
      `${code}\nimport { field, schema, t } from "portico";\nschema({ query: { a: field(t.int)(() => 1) } });\nconsole.log("built");\n`,
    );
    return file;
  };
  const run = (file: string): { readonly status: number | null; readonly text: string } => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [file], { encoding: "utf8" });
    return { status, text: stdout + stderr };
  };

  beforeAll(async () => {
    mkdirSync(join(portico, "node_modules"), { recursive: true });
    cpSync(join(root, "node_modules/graphql"), join(place, "node_modules/graphql"), { recursive: true });
    writeFileSync(
      join(portico, "package.json"),
      JSON.stringify({ name: "portico", type: "module", exports: "./index.js" }),
    );
    await build({
      stdin: {
        contents:
          'export { field } from "./declare/fields/field.ts"; export { schema } from "./schema/schema.ts"; export * as t from "./declare/types/t.ts";',
        resolveDir: join(root, "src/graphql"),
      },
      outfile: join(portico, "index.js"),
      bundle: true,
      platform: "node",
      format: "esm",
      external: ["graphql"],
      logLevel: "silent",
    });
  });
  afterAll(() => rmSync(place, { recursive: true, force: true }));

  it("are accepted if there is only one", () => {
    expect(run(main("one", 'import "graphql";'))).toEqual({ status: 0, text: "built\n" });
  });

  it("[RES-52] fail the startup if there are two, naming both", () => {
    symlinkSync(join(root, "node_modules/graphql17"), join(portico, "node_modules/graphql"));

    const { status, text } = run(main("two", 'import "graphql";'));
    rmSync(join(portico, "node_modules/graphql"));

    expect(status).not.toBe(0);
    expect(text).toContain("ConfigurationError: graphql is loaded twice");
    expect(text).toContain(join(place, "node_modules/graphql"));
    expect(text).toContain(join(root, "node_modules/graphql17"));
  });

  it("[RES-52] fail the startup if a second one was loaded from another folder", () => {
    const elsewhere = join(place, "tool/node_modules/graphql");
    cpSync(join(root, "node_modules/graphql"), elsewhere, { recursive: true });

    const { status, text } = run(
      main(
        "loaded",
        `import { createRequire } from "node:module";\ncreateRequire(import.meta.url)(${JSON.stringify(elsewhere)});`,
      ),
    );

    expect(status).not.toBe(0);
    expect(text).toContain(`Portico uses ${join(place, "node_modules/graphql")}, the application uses ${elsewhere}`);
  });
});
