import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import manifest from "../package.json" with { type: "json" };
import { folderWithPackage } from "../scripts/package/built-package.ts";
import { root } from "../scripts/package/repository.ts";

/** By name of the file as well: a package may carry code for a database that it does not depend on. */
const kinds: Readonly<Record<string, RegExp>> = {
  graphql: /graphql/i,
  database: /kysely|\bpg\b|postgres|sql|mariadb|mongo|prisma|drizzle/i,
  redis: /redis|valkey/i,
  nats: /nats/i,
  providers: /openid-client|oauth4webapi/,
};

const serving = `
import { PorticoApp, rateLimit } from "portico";

const app = new PorticoApp({ logger: false });
app.use(rateLimit({ perMinute: 5 }));
app.get("/books", () => []);
const { url } = await app.listen({ port: 0 });
const answer = await fetch(url + "/books");
if (answer.status !== 200) throw new Error(await answer.text());
await app.close();
`;

describe("the modules that are loaded", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await folderWithPackage("imports");
  });

  it.each([
    { door: "portico", brings: [] },
    { door: "portico/auth", brings: [] },
    { door: "portico/pagination", brings: [] },
    { door: "portico/testing", brings: [] },
    { door: "portico/graphql", brings: ["graphql"] },
    { door: "portico/sql", brings: ["database"] },
    { door: "portico/redis", brings: ["redis"] },
    { door: "portico/nats", brings: ["nats"] },
  ])(
    "by importing $door have, of GraphQL, databases, Redis, NATS and identity providers, $brings",
    async ({ door, brings }) => {
      const modules = await loadedBy(folder, `import "${door}";`);

      expect(modules).toContainEqual(expect.stringMatching(/^portico\/dist\/.*index\.js$/));
      expect(modules.filter((module) => isOf(module, without(brings)))).toEqual([]);
      for (const kind of brings) expect(modules.filter((module) => isOf(module, [kind])).length).toBeGreaterThan(10);
    },
  );

  it("by importing portico do not include Node's fetch, which takes longer than all of portico", async () => {
    const program = join(folder, `${crypto.randomUUID()}.mjs`);
    await writeFile(program, 'import "portico"; console.log(JSON.stringify(process.moduleLoadList));');

    const { stdout } = await promisify(execFile)(process.execPath, [program], { cwd: folder });

    expect((JSON.parse(stdout) as readonly string[]).filter((module) => module.includes("undici"))).toEqual([]);
  });

  it("[RES-50] by importing portico/graphql define the symbol of decorators in the file that package.json lists", async () => {
    const [file = ""] = manifest.sideEffects;

    const code = await readFile(join(folder, "node_modules/portico", file), "utf8");

    expect(code).toContain('Symbol.for("Symbol.metadata")');
  });

  it("by an application of portico alone that served a request are none of them either", async () => {
    const modules = await loadedBy(folder, serving);

    expect(modules).toContain("fastify/fastify.js");
    expect(modules.filter((module) => isOf(module, without([])))).toEqual([]);
  });
});

/** The modules of packages that a program loads, by their path below `node_modules`. */
async function loadedBy(folder: string, code: string): Promise<readonly string[]> {
  const program = join(folder, `${crypto.randomUUID()}.mjs`);
  await writeFile(program, code);
  const watcher = join(root, "test/fixtures/loaded-modules.mjs");
  const { stdout } = await promisify(execFile)(process.execPath, [watcher, program], { cwd: folder });
  return (JSON.parse(stdout) as readonly string[]).flatMap((url) => {
    const [module, ...above] = url.split("/node_modules/").toReversed();
    return above.length > 0 || url.startsWith("node:") ? [module as string] : [];
  });
}

function isOf(module: string, names: readonly string[]): boolean {
  // The hash of a chunk may contain any word.
  const name = module.replace(/-[A-Z0-9]{8}\.js$/, ".js");
  return names.some((kind) => kinds[kind]?.test(name));
}

function without(names: readonly string[]): readonly string[] {
  return Object.keys(kinds).filter((name) => !names.includes(name));
}
