import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { builtDoors, builtPackage } from "../../scripts/package/built-package.ts";
import { COMPILER } from "../../scripts/package/compiler.ts";
import { filesBelow, read, root } from "../../scripts/package/repository.ts";
import { pathsTo } from "../../scripts/snippets/snippets.ts";

const folder = "packages/create-portico";
const run = promisify(execFile);

// Compilers and test runners start here, which takes minutes on a busy machine.
const timeout = 300_000;

describe.each(["minimal", "api", "existing"])("the template %s", { timeout }, (template) => {
  const files = filesBelow(`${folder}/templates/${template}`, "");

  it("compiles against the declarations of the package", async () => {
    const config = join(root, ".cache", "templates", `tsconfig.${template}.json`);
    await mkdir(join(config, ".."), { recursive: true });
    await writeFile(
      config,
      JSON.stringify({
        extends: join(root, folder, `tsconfig.${template}.json`),
        compilerOptions: { paths: pathsTo(join(builtPackage(), "dist"), root) },
        include: [join(root, folder, "templates", template)],
      }),
    );
    await run(process.execPath, [...COMPILER, "-p", config], { cwd: root });
    expect(await files).not.toEqual([]);
  });

  it("names only files and scripts that exist in its AGENTS.md and README.md", async () => {
    const place = `${folder}/templates/${template}`;
    const pages = ["AGENTS.md", "README.md"].filter((name) => existsSync(join(root, place, name)));
    const codes = pages.flatMap((page) =>
      [...read(`${place}/${page}`).matchAll(/`([^`\n]+)`/g)].map(([, code = ""]) => code),
    );
    const paths = codes.filter((code) => /^(?:src|test)\/|^[\w.-]+\.(?:ts|md|json|example|test)$/.test(code));
    const scripts = pages.flatMap((page) =>
      [...read(`${place}/${page}`).matchAll(/npm (?:run )?(\w+)/g)].map(([, name]) => name),
    );

    expect(paths).not.toEqual([]);
    for (const path of paths) expect([path, existsSync(join(root, place, path))]).toEqual([path, true]);
    if (template === "existing") return;
    const known = Object.keys((JSON.parse(read(`${place}/package.json`)) as { scripts: object }).scripts);
    for (const script of scripts) expect(known).toContain(script);
  });
});

describe.each([
  ["minimal", {}],
  ["api", { DATABASE_URL: "postgres://postgres@127.0.0.1:5432/test" }],
] as const)("the tests of the template %s", { timeout }, (template, env) => {
  it("pass on the package", async () => {
    const cwd = join(root, folder, "templates", template);
    const { scripts } = JSON.parse(read(`${folder}/templates/${template}/package.json`)) as {
      scripts: { test: string };
    };
    const options = builtDoors().map((option) => `"${option}"`);
    const command = scripts.test.replace("node ", `"${process.execPath}" ${options.join(" ")} --test-reporter=spec `);

    const { stdout } = await run("sh", ["-c", command], { cwd, env: { PATH: process.env["PATH"], ...env } });

    expect(stdout).toMatch(/^ℹ pass [1-9]/m);
    expect(stdout).toMatch(/^ℹ fail 0$/m);
  });
});

it("the access table of the template api is that of its application", { timeout }, async () => {
  const cwd = join(root, folder, "templates/api");
  const env = { PATH: process.env["PATH"], DATABASE_URL: "postgres://postgres@127.0.0.1:5432/test" };
  const portico = [...builtDoors(), "--env-file=.env.test", join(builtPackage(), "dist/cli/portico.js")];

  const { stdout } = await run(process.execPath, [...portico, "audit", "--check"], { cwd, env });

  expect(stdout).toContain("the application matches access.md");
});

describe("the linter of the template api", { timeout }, () => {
  const template = `${folder}/templates/api`;
  const lint = async (cwd: string): Promise<string> => {
    const oxlint = join(root, "node_modules/oxlint/bin/oxlint");
    const ended = await run(process.execPath, [oxlint, "-c", "oxlint.json"], { cwd }).catch(
      (error: unknown) => error as { readonly stdout: string },
    );
    return ended.stdout;
  };

  it("is part of its check, and finds nothing in it", async () => {
    const { scripts } = JSON.parse(read(`${template}/package.json`)) as { scripts: { check: string } };

    expect(scripts.check).toBe("tsc && oxlint -c oxlint.json");
    expect(await lint(join(root, template))).toMatch(
      /Found 0 warnings and 0 errors\.\nFinished in \S+ on [1-9]\d files/,
    );
  });

  it("finds a promise that no code awaits, and one that is taken for a boolean", async () => {
    // The linter leaves out files that git ignores.
    const cwd = await mkdtemp(join(tmpdir(), "portico-lint-"));
    onTestFinished(() => rm(cwd, { recursive: true }));
    await writeFile(join(cwd, "oxlint.json"), read(`${template}/oxlint.json`));
    await writeFile(join(cwd, "tsconfig.json"), '{ "compilerOptions": { "strict": true } }');
    await writeFile(
      join(cwd, "planted.ts"),
      `declare const ctx: { can(): Promise<boolean>; authorize(): Promise<void> };
export function route() {
  ctx.authorize();
  return ctx.can() ? "yes" : "no";
}
`,
    );

    const found = await lint(cwd);

    expect(found).toContain("no-floating-promises");
    expect(found).toContain("no-misused-promises");
  });
});

it("the workflow of the template api uses the actions of this repository", () => {
  const uses = (file: string): readonly string[] => read(file).match(/uses: .+$/gm) ?? [];
  const own = uses(".github/workflows/ci.yml");

  const used = uses(`${folder}/templates/api/.github/workflows/ci.yml`);

  expect(used.length).toBeGreaterThan(0);
  for (const line of used) expect(own).toContain(line);
});

it("the package depends on the versions that the repository is tested with", () => {
  interface Manifest {
    readonly dependencies: Readonly<Record<string, string>>;
    readonly devDependencies: Readonly<Record<string, string>>;
  }
  const { devDependencies } = JSON.parse(read("package.json")) as Manifest;
  const { dependencies } = JSON.parse(read(`${folder}/package.json`)) as Manifest;

  for (const [name, version] of Object.entries(dependencies))
    expect([name, version]).toEqual([name, devDependencies[name]]);
});
