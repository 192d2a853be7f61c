import { execFile } from "node:child_process";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { folderWithPackage } from "../../../scripts/package/built-package.ts";
import { COMPILER } from "../../../scripts/package/compiler.ts";
import { read } from "../../../scripts/package/repository.ts";
import { type Program, startProgram } from "../../docs/program.ts";

const run = promisify(execFile);

let folder: string;
let program: Program | undefined;
beforeAll(async () => {
  folder = await folderWithPackage("recipes");
}, 300_000);
afterEach(async () => {
  await program?.end("SIGTERM");
  program = undefined;
});

/** Writes each block of a page whose first line is a comment with a path to that path. */
async function writeFilesOf(page: string, below: string): Promise<void> {
  for (const { groups } of read(page).matchAll(/^```\w+\n\/\/ (?<path>\S+)\n(?<text>.*?)^```$/gms)) {
    const file = join(folder, below, groups?.["path"] ?? "");
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, groups?.["text"] ?? "");
  }
}

/** Compiles with the `tsconfig.json` of a folder, and returns the output of the compiler. */
async function compile(below: string, ...options: readonly string[]): Promise<string> {
  const project = join(folder, below, "tsconfig.json");
  const { stdout } = await run(process.execPath, [...COMPILER, "-p", project, ...options]).catch(
    (error: unknown) => error as { readonly stdout: string },
  );
  return stdout;
}

describe("the page about CommonJS", () => {
  it("has a server that runs", async () => {
    await writeFilesOf("docs/recipes/commonjs.md", "commonjs");
    program = await startProgram(join(folder, "commonjs"), "server.cjs");

    const hello = await fetch(`${program.url}/hello`);
    const graph = await program.post("/graphql", { query: "{ hello }" });

    expect([await hello.json(), await graph.json()]).toMatchObject([{ hello: "world" }, { data: { hello: "world" } }]);
  });

  it("is right that require returns the objects that import returns, without a warning", async () => {
    const code = `import("portico").then((esm) => console.log(esm.PorticoApp === require("portico").PorticoApp))`;

    const { stdout, stderr } = await run(process.execPath, ["--input-type=commonjs", "-e", code], { cwd: folder });

    expect([stdout, stderr]).toEqual(["true\n", ""]);
  });

  it("has compiler options with which TypeScript becomes CommonJS that runs", async () => {
    await writeFilesOf("docs/recipes/commonjs.md", "commonjs");

    expect(await compile("commonjs")).toBe("");

    const code = `require("./app.js").app.inject`;
    const text = await run(process.execPath, ["-p", `typeof ${code}`], { cwd: join(folder, "commonjs") });
    expect(text.stdout).toBe("function\n");
  });
});

describe("the page about monorepos", () => {
  beforeAll(async () => {
    await writeFilesOf("docs/recipes/monorepo.md", "monorepo");
    const scope = join(folder, "monorepo", "node_modules", "@shop");
    await mkdir(scope, { recursive: true });
    // npm links the packages in this way.
    await symlink(join("..", "..", "packages", "contract"), join(scope, "contract"), "dir");
  });

  it("compiles, and a change of the shared types is an error in the API", async () => {
    expect(await compile("monorepo")).toBe("");

    const contract = join(folder, "monorepo", "packages", "contract", "index.ts");
    const text = /^\/\/ packages\/contract\/index\.ts\n(?<text>.*?)^```$/ms.exec(read("docs/recipes/monorepo.md"));
    await writeFile(contract, (text?.groups?.["text"] ?? "").replace("title:", "name:"));
    const faults = await compile("monorepo");
    await writeFile(contract, text?.groups?.["text"] ?? "");

    expect(faults).toMatch(/apps\/api\/server\.ts.*title/);
  });

  it("has an API and a front end that use the shared package as TypeScript", async () => {
    program = await startProgram(join(folder, "monorepo"), "apps/api/server.ts");
    const { createBook } = (await import(
      pathToFileURL(join(folder, "monorepo", "apps", "web", "new-book.ts")).href
    )) as { readonly createBook: (api: string, form: unknown) => Promise<object> };

    const book = await createBook(program.url, { title: "Emma", cents: 1250 });

    expect(book).toEqual({ id: expect.any(String), title: "Emma", cents: 1250 });
    await expect(createBook(program.url, { title: "", cents: 1250 })).rejects.toThrow("title");
    expect((await program.post("/books", { title: "", cents: 1 })).status).toBe(422);
    const titles = await program.post("/graphql", { query: "{ titles }" });
    expect(await titles.json()).toMatchObject({ data: { titles: ["Emma"] } });
  });
});
