import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { folderWithPackage } from "../scripts/package/built-package.ts";
import { read, root } from "../scripts/package/repository.ts";
import { type Program, startProgram } from "./docs/program.ts";

const page = read("docs/guide/sign-in.md");
const [code = ""] = /(?<=^```ts\n).*?(?=^```$)/ms.exec(page) ?? [];
const [commands = ""] = /(?<=^```sh\n).*?(?=^```$)/ms.exec(page) ?? [];
const run = promisify(execFile);
const secret = crypto.randomUUID();

describe("the first program of Sign-in and registration", () => {
  let folder: string;
  let program: Program;
  beforeAll(async () => {
    folder = await folderWithPackage("sign-in-guide");
    const listening = 'console.log(`listening on ${(await app.listen({ port: Number(env("PORT")) })).url}`);\n';
    await writeFile(join(folder, "app.mts"), code + listening);
    const portico = join(folder, "node_modules/portico/dist/cli/portico.js");
    await run(process.execPath, [portico, "migrate", "up", "--database", "sqlite:shop.db"], { cwd: folder });
    program = await startProgram(folder, "app.mts", { SECRET: secret });
  });
  afterAll(async () => void (await program?.end("SIGTERM")));

  it("registers a user, signs in and calls the route with the commands of the page", async () => {
    const env = { PATH: [join(root, "node_modules/.bin"), process.env["PATH"]].join(delimiter), HOME: folder };

    const { stdout } = await run("bash", ["-ec", commands.replaceAll("http://127.0.0.1:3000", program.url)], {
      cwd: folder,
      env,
    });

    expect(stdout).toMatch(/"the orders of ann"$/);
  });
});
