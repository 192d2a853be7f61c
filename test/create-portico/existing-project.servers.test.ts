import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { read } from "../../scripts/package/repository.ts";
import { templateVersions } from "../../scripts/template-versions.ts";
import { temporaryFolder } from "../cli/temporary-folder.ts";
import { createOnTerminal, runCreate, writeVersions } from "./run-create.ts";

const TEMPLATE = "packages/create-portico/templates/existing/portico.ts";

let place: string;
beforeAll(writeVersions);
beforeEach(async () => {
  place = await temporaryFolder();
});

const text = (name: string): string => readFileSync(join(place, name), "utf8");
const write = (name: string, content: string): void => writeFileSync(join(place, name), content);
const add = (...args: readonly string[]) => runCreate(place, ["--template", "existing", "--no-install", ...args]);
const withoutSpaces = (code: string): string => code.replaceAll(/\s+/g, "");

describe("the template existing", () => {
  it.each([
    {
      project: "Fastify with ES modules",
      manifest: { type: "module", dependencies: { fastify: "^5.0.0" } },
      file: "portico.js",
      lines: ['import { portico } from "./portico.js";', 'app.register(portico.plugin(), { prefix: "/portico" });'],
    },
    {
      project: "Express with CommonJS modules",
      manifest: { dependencies: { express: "^5.0.0" } },
      file: "portico.mjs",
      lines: ['const { portico } = require("./portico.mjs");', 'app.use("/portico", portico.handler);'],
    },
    {
      project: "Express with TypeScript",
      manifest: { dependencies: { express: "^5.0.0" }, devDependencies: { typescript: "^7.0.0" } },
      file: "portico.ts",
      lines: ['import { portico } from "./portico.js";', 'app.use("/portico", portico.handler);'],
    },
  ])("adds one file to $project, and prints the lines for the server", async ({ manifest, file, lines }) => {
    write("package.json", JSON.stringify({ name: "orders", ...manifest }));

    const { code, out } = await add();

    expect(code).toBe(0);
    expect(readdirSync(place).toSorted()).toEqual(["AGENTS.md", "package.json", file]);
    expect(text(file)).toContain('title: "orders"');
    expect(text("AGENTS.md")).toContain(`\`${file}\``);
    for (const line of lines) expect(out).toContain(`  ${line}`);
  });

  it("writes into src/, and imports with .ts where the compiler allows it", async () => {
    mkdirSync(join(place, "src"));
    write("package.json", JSON.stringify({ name: "orders", dependencies: { fastify: "^5.0.0" } }));
    write("tsconfig.json", '{ "compilerOptions": { "allowImportingTsExtensions": true } }');

    const { out } = await add();

    expect(out).toContain("Added src/portico.ts");
    expect(out).toContain('  import { portico } from "./portico.ts";');
    expect(readdirSync(join(place, "src"))).toEqual(["portico.ts"]);
  });

  it("is the code of the TypeScript file without its types in a JavaScript project", async () => {
    write("package.json", JSON.stringify({ name: "my-api", type: "module", dependencies: { fastify: "^5.0.0" } }));

    await add();

    // The type in the import is all that Node leaves for the compiler to remove.
    const typed = read(TEMPLATE).replace(" type ObjectType,", "");
    expect(withoutSpaces(text("portico.js"))).toBe(withoutSpaces(stripTypeScriptTypes(typed)));
  });

  it("adds the dependencies that are missing, and keeps the rest of package.json", async () => {
    const manifest = { name: "orders", dependencies: { express: "^5.0.0", graphql: "16.9.0" }, license: "MIT" };
    write("package.json", JSON.stringify(manifest, null, "\t"));

    await add();

    const { kysely, portico } = templateVersions();
    const dependencies = { express: "^5.0.0", graphql: "16.9.0", kysely, portico };
    expect(text("package.json")).toBe(`${JSON.stringify({ ...manifest, dependencies }, null, "\t")}\n`);
  });

  it("names the commands of the package manager whose lock file is there", async () => {
    write("package.json", JSON.stringify({ name: "orders", dependencies: { express: "^5.0.0" } }));
    write("pnpm-lock.yaml", "");

    const { out } = await add();

    expect(out).toContain("  pnpm install\n  pnpm portico migrate up --database sqlite:portico.db");
    expect(text("AGENTS.md")).toContain("`pnpm portico migrate up");
  });

  it("is the first choice on a terminal in such a project", async () => {
    write("package.json", JSON.stringify({ name: "orders", dependencies: { express: "^5.0.0" } }));

    const { code, out } = await createOnTerminal(place, ["--no-install"], [["Which template?", "\r"]]);

    expect(code).toBe(0);
    expect(out).toContain("Added portico.mjs");
  });
});

describe("the template existing overwrites nothing", () => {
  it("if there is a file with the name of the new one", async () => {
    const manifest = JSON.stringify({ name: "orders", type: "module", dependencies: { fastify: "^5.0.0" } });
    write("package.json", manifest);
    write("portico.js", "// mine\n");

    const { code, err } = await add();

    expect(code).toBe(1);
    expect(err).toContain(`${join(place, "portico.js")} already exists, and was not changed`);
    expect([text("portico.js"), text("package.json")]).toEqual(["// mine\n", manifest]);
  });

  it("if there is an AGENTS.md", async () => {
    write("package.json", JSON.stringify({ name: "orders", type: "module", dependencies: { fastify: "^5.0.0" } }));
    write("AGENTS.md", "# Ours\n");

    await add();

    expect(text("AGENTS.md")).toBe("# Ours\n");
  });

  it.each([
    ["there is no package.json", undefined, "has no package.json. Run this command in the folder of your application"],
    ["there is no known server", '{ "dependencies": { "koa": "1" } }', "lists neither fastify nor express"],
    ["package.json is not JSON", "{ name: ", "package.json is not valid JSON"],
  ])("if %s", async (_case, manifest, message) => {
    if (manifest !== undefined) write("package.json", manifest);

    const { code, err } = await add();

    expect(code).toBe(1);
    expect(err).toContain(message);
    expect(readdirSync(place)).toEqual(manifest === undefined ? [] : ["package.json"]);
  });
});
