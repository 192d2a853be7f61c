import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { type BuildOptions, build } from "esbuild";
import { field, schema, t } from "portico/graphql";
import { afterAll, describe, expect, it } from "vitest";
import { COMPILER } from "../../scripts/package/compiler.ts";
import { data } from "./ask.ts";

const root = resolve(import.meta.dirname, "../..");
const fixture = (name: string): string => join(import.meta.dirname, "fixtures", `${name}.ts`);
// Inside the repository, so that what is written there finds graphql.
mkdirSync(join(root, ".cache"), { recursive: true });
const place = mkdtempSync(join(root, ".cache/toolchains-"));
afterAll(() => rmSync(place, { recursive: true, force: true }));

const binary = (name: string, path: string): string =>
  join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), path);

/** What a script prints, run by this Node. */
async function run(...args: string[]): Promise<Record<string, unknown>> {
  return JSON.parse(await output(...args)) as Record<string, unknown>;
}

async function output(...args: string[]): Promise<string> {
  const preload =
    process.env["PORTICO_GRAPHQL"] === "17" ? ["--import", join(import.meta.dirname, "fixtures/graphql17.mjs")] : [];
  const child = spawn(process.execPath, [...preload, ...args], { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  const chunks: string[] = [];
  const errors: string[] = [];
  child.stdout.on("data", (chunk) => chunks.push(String(chunk)));
  child.stderr.on("data", (chunk) => errors.push(String(chunk)));
  const code = await new Promise((done) => child.on("close", done));
  if (code !== 0) throw new Error(`${args.join(" ")}\n${errors.join("")}${chunks.join("")}`);
  return chunks.join("");
}

async function bundle(name: string, options: BuildOptions = {}): Promise<string> {
  const outfile = join(place, `${name}-${Object.keys(options).join("-")}.mjs`);
  await build({
    entryPoints: [fixture(name)],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "es2024",
    packages: "external",
    logLevel: "silent",
    ...options,
  });
  return outfile;
}

async function compile(name: string, compilerOptions: object): Promise<string> {
  const outDir = join(place, `${name}-tsc-${Object.keys(compilerOptions).length}`);
  const project = join(place, `tsconfig.${name}.${Object.keys(compilerOptions).length}.json`);
  writeFileSync(
    project,
    JSON.stringify({
      extends: join(root, "tsconfig.json"),
      compilerOptions: {
        noEmit: false,
        isolatedDeclarations: false,
        declaration: false,
        outDir,
        rootDir: root,
        ...compilerOptions,
      },
      files: [fixture(name)],
      include: [],
    }),
  );
  await output(...COMPILER, "-p", project);
  return join(outDir, "test/graphql/fixtures", `${name}.js`);
}

const wrapped = {
  sdl: expect.stringContaining('label(prefix: String! = "-"): String!') as string,
  results: [{ data: { books: [{ id: "1", label: "* Emma" }], none: [] } }],
  refusals: [
    "field: the parameter unknown is not declared in params (declared: known). Add it with its type, such as { unknown: t.int }",
  ],
};

describe("[RES-29] the wrapper form", () => {
  it("[RES-29] runs in vitest", async () => {
    const hello = field(t.string, { params: { name: t.string("world") } })(({ name }) => `hello ${name}`);

    expect(await data(schema({ query: { hello } }), "{ hello }")).toEqual({ hello: "hello world" });
  });

  it("[RES-29] runs in plain Node, without a build step", async () => {
    expect(await run(fixture("wrapped"))).toEqual(wrapped);
  });

  it("[RES-29] runs in tsx", async () => {
    expect(await run(binary("tsx", "dist/cli.mjs"), fixture("wrapped"))).toEqual(wrapped);
  });

  it.each([
    ["as it is", {}],
    ["minified", { minify: true }],
    ["minified, for an older target", { minify: true, target: "es2022" }],
  ])("[RES-29] runs from a bundle, %s", async (_, options) => {
    expect(await run(await bundle("wrapped", options))).toEqual(wrapped);
  });
});

const sdl = `type Mutation {
  addBook(title: String!): String!
}

type Query {
  hello(name: String! = "world"): String!
  other_shop: Shop!
  shop: Shop!
  ticks(to: Int! = 3): [Int!]!
  version: Int!
}

type Shop {
  label: String!

  """On the door."""
  name: String!
  own: String!
}

type Subscription {
  ticked(to: Int! = 3): Int!
}
`;
const shop = { name: "North", label: "label 1", own: "1" };
const decorated = {
  sdl,
  results: [
    { data: { version: 7, hello: "hello Ada", ticks: [0, 1], shop, other_shop: { label: "label 2" } } },
    { data: { addBook: "EMMA" } },
  ],
};

describe("the decorator form", () => {
  it("[RES-27] [RES-33] [RES-50] runs compiled by tsc, on methods and properties, `this` being the parent", async () => {
    // The types are checked with those of all tests.
    expect(await run(await compile("decorated", { noCheck: true }))).toEqual(decorated);
  });

  it("[RES-27] [RES-50] runs compiled by esbuild", async () => {
    expect(await run(await bundle("decorated"))).toEqual(decorated);
  });

  it("[RES-27] survives esbuild --minify", async () => {
    expect(await run(await bundle("decorated", { minify: true }))).toEqual(decorated);
  });

  it("[RES-27] runs in tsx", async () => {
    expect(await run(binary("tsx", "dist/cli.mjs"), fixture("decorated"))).toEqual(decorated);
  });

  it("[RES-28] runs as legacy decorators, compiled by tsc", async () => {
    expect(
      await run(await compile("decorated", { experimentalDecorators: true, useDefineForClassFields: false })),
    ).toEqual(decorated);
  });

  it("[RES-28] runs as legacy decorators, compiled by esbuild", async () => {
    const legacy = { tsconfigRaw: { compilerOptions: { experimentalDecorators: true } } };

    expect(await run(await bundle("decorated", legacy))).toEqual(decorated);
  });

  const suite = `import { field, printSchema, schema, t } from ${JSON.stringify(join(root, "src/graphql/index.ts"))};
import { expect, it } from "vitest";
class Query {
  @field(t.int) version = 1;
  @field(t.string)
  hello() {
    return "world";
  }
}
it("has both", () => {
  expect(printSchema(schema({ query: Query }))).toContain("hello: String!\\n  version: Int!");
});
`;
  const guide = readFileSync(join(root, "docs/guide/decorators.md"), "utf8");

  it.each([
    ["the plugin of the guide", /^\/\/ vitest\.config\.ts\n[\s\S]*?(?=^```)/m.exec(guide)?.[0]],
    ["legacy decorators switched on", "export default { oxc: { decorator: { legacy: true } } };"],
  ])("runs in vitest with %s", async (name, config) => {
    const folder = join(place, name.replaceAll(" ", "-"));
    mkdirSync(folder);
    writeFileSync(join(folder, "query.test.ts"), suite);
    writeFileSync(join(folder, "vitest.config.ts"), config ?? "");

    const printed = await output(
      binary("vitest", "vitest.mjs"),
      "run",
      "--root",
      folder,
      "--config",
      join(folder, "vitest.config.ts"),
    );

    expect(printed).toContain("1 passed");
  });
});
