import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { parseEnv, promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { folderWithPackage } from "../scripts/package/built-package.ts";
import { read } from "../scripts/package/repository.ts";
import { cutLike } from "./docs/cut-like.ts";
import { type EventStream, openEventStream } from "./docs/event-stream.ts";
import { type Program, startProgram } from "./docs/program.ts";
import { shellBlocks, withoutSetUp } from "./docs/shell-blocks.ts";

const run = promisify(execFile);
const PORTICO = "node node_modules/portico/dist/cli/portico.js";
const ADDRESS = "http://127.0.0.1:3000";

describe("the tutorial, file by file and command by command", () => {
  let folder: string;
  let program: Program | undefined;
  let stream: EventStream | undefined;

  beforeAll(async () => {
    folder = await folderWithPackage("tutorial");
  });
  afterAll(async () => {
    stream?.child.kill();
    await program?.end("SIGTERM");
  });

  /** Stands in for `portico dev`: the server runs the files as they are now. */
  async function restart(more: Readonly<Record<string, string>> = {}): Promise<void> {
    await program?.end("SIGTERM");
    const env = parseEnv(await readFile(join(folder, ".env"), "utf8")) as Record<string, string>;
    program = await startProgram(folder, "server.ts", { ...env, ...more });
  }

  const inShell = () => {
    const PATH = [dirname(process.execPath), process.env["PATH"]].join(delimiter);
    return { cwd: folder, env: { PATH, HOME: folder } };
  };

  it.each(shellBlocks("docs/guide/tutorial.md"))("$step: $commands", async ({ commands, files, json, text }) => {
    for (const [name, code] of Object.entries(files)) await writeFile(join(folder, name), code);
    if (commands.startsWith("NODE_ENV=production")) return restart({ NODE_ENV: "production" });
    // The test restarts the server for every change.
    const own = withoutSetUp(commands).replaceAll("npx portico", PORTICO);
    if (own.includes("curl") && (program === undefined || Object.keys(files).length > 0)) await restart();
    const address = program?.url ?? ADDRESS;
    const here = own.replaceAll(ADDRESS, address);

    if (here.includes("curl -sN")) {
      stream = await openEventStream(here, inShell());
      return;
    }
    // Each response stands on its own line.
    const { stdout } = await run("bash", ["-ec", here.replaceAll(/^curl.*(?:(?<=\\)\n.*)*$/gm, "$&; echo")], inShell());

    // The reporter of Node's test runner begins its lines with a symbol.
    const lines = stdout.split("\n").map((line) => line.replace(/^[^\w{[]\s/, ""));
    expect(lines).toEqual(expect.arrayContaining(text?.trim().split("\n") ?? []));
    if (json === undefined) return;
    const sample = JSON.parse(json.replaceAll(ADDRESS, address)) as object;
    expect(cutLike(sample, JSON.parse(stdout.trim().split("\n").at(-1) ?? ""))).toMatchObject(sample);
  });

  it("9. A subscription: the subscriber prints the event", async () => {
    const page = read("docs/guide/tutorial.md");
    const [, sample = ""] = /^data: (.+)$/m.exec(page) ?? [];

    await expect.poll(() => stream?.printed).toMatch(/^event: next\ndata: /m);

    const [, event = ""] = /^data: (.+)$/m.exec(stream?.printed ?? "") ?? [];
    expect(JSON.parse(event)).toMatchObject(JSON.parse(sample) as object);
  });
});
