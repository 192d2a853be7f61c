import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { folderWithPackage } from "../../scripts/package/built-package.ts";
import { cutLike } from "./cut-like.ts";
import { type Program, startProgram } from "./program.ts";
import { type ShellBlock, shellBlocks, withoutSetUp } from "./shell-blocks.ts";

const run = promisify(execFile);
const PORTICO = "node node_modules/portico/dist/cli/portico.js";
const ADDRESS = /(?:http:\/\/127\.0\.0\.1|localhost):3000/g;
const CONFIG = `import { PorticoApp, type PorticoConfig } from "portico";
import { authentication } from "portico/auth";
import { field, Graph, schema, t } from "portico/graphql";
import { openDatabase, sqlStores, userModel } from "portico/sql";

const database = openDatabase("sqlite:shop.db");
const users = userModel(database);
export default {
  app() {
    const app = new PorticoApp({ publicUrl: "https://shop.example", stores: sqlStores(database) });
    const secret = crypto.randomUUID();
    app.use(authentication({ userModel: users, secret, audience: "shop", async mailer() {} }));
    new Graph(schema({ query: { hello: field(t.string)(() => "world") } })).mount(app);
    return app;
  },
  database,
  users,
} satisfies PorticoConfig;
`;

const pages = [
  "docs/guide/sign-in.md",
  "docs/guide/authentication.md",
  "docs/guide/graphql-endpoint.md",
  "docs/guide/deployment.md",
];
const blocks = pages.flatMap((page) =>
  shellBlocks(page)
    .filter(({ notRun }) => notRun === undefined)
    .map((block) => ({ page, ...block })),
);
/** What the output of a block contains, if the page shows no JSON below it. */
const outputs: Readonly<Record<string, RegExp>> = {
  "docs/guide/sign-in.md": /"the orders of ann"$/,
  "JWKS and key rotation": /^\{"crv":"Ed25519",.*"d":"/,
  "Persisted documents": /^\{"data":\{"hello":"world"\}/,
  "Schema changes": /no changes/,
  "Check the configuration": /^ok +environment +NODE_ENV is production$/m,
  Migrations: /./,
};

describe("the commands of the guides", () => {
  let folder: string;
  let program: Program | undefined;
  const env = (): NodeJS.ProcessEnv => ({ PATH: process.env["PATH"], HOME: folder });
  beforeAll(async () => {
    folder = await folderWithPackage("page-commands");
    await writeFile(join(folder, "portico.config.ts"), CONFIG);
    await run("bash", ["-ec", `${PORTICO} migrate up`], { cwd: folder, env: env() });
  });
  afterAll(async () => void (await program?.end("SIGTERM")));

  async function outputOf({ commands, code }: ShellBlock): Promise<string> {
    if (commands.includes("curl")) {
      await program?.end("SIGTERM");
      const listening = "console.log(`listening on ${(await app.listen({ port: Number(process.env.PORT) })).url}`);\n";
      await writeFile(join(folder, "app.mts"), `${code?.replace(/^await app\.listen.*\n/m, "")}${listening}`);
      program = await startProgram(folder, "app.mts", { SECRET: crypto.randomUUID() });
    }
    const own = withoutSetUp(commands)
      .replaceAll(ADDRESS, program?.url ?? "")
      .replaceAll("npx portico", PORTICO);

    return (await run("bash", ["-ec", own], { cwd: folder, env: env() })).stdout.trim();
  }

  it.each(blocks.filter(({ json }) => json !== undefined))("$page: $commands", async (block) => {
    const sample = JSON.parse(block.json ?? "") as object;

    expect(cutLike(sample, JSON.parse(await outputOf(block)))).toEqual(sample);
  });

  it.each(blocks.filter(({ json }) => json === undefined))("$page: $commands", async (block) => {
    expect(await outputOf(block)).toMatch(outputs[block.page] ?? outputs[block.step] ?? /no output is known/);
  });
});
