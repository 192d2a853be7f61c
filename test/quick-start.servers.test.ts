import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { parseEnv, promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { folderWithPackage } from "../scripts/package/built-package.ts";
import { root } from "../scripts/package/repository.ts";
import { compileSnippets, pageSnippets } from "../scripts/snippets/snippets.ts";
import { cutLike } from "./docs/cut-like.ts";
import { type Program, startProgram } from "./docs/program.ts";
import { shellBlocks, withoutSetUp } from "./docs/shell-blocks.ts";

const page = "docs/guide/quick-start.md";
const run = promisify(execFile);

describe("the quick start, file by file and command by command", () => {
  let folder: string;
  let program: Program | undefined;

  beforeAll(async () => {
    folder = await folderWithPackage("quick-start");
    await writeFile(join(folder, ".curlrc"), 'write-out = "\\n"');
  });
  afterAll(async () => void (await program?.end("SIGTERM")));

  /** Stands in for `node --watch`: the server runs the files as they are now. */
  async function restart(): Promise<Program> {
    await program?.end("SIGTERM");
    const env = parseEnv(await readFile(join(folder, ".env"), "utf8")) as Record<string, string>;
    return startProgram(folder, "server.ts", env);
  }

  async function runInFolder(commands: string): Promise<string> {
    const PATH = [join(root, "node_modules", ".bin"), process.env["PATH"]].join(delimiter);
    const env = { PATH, HOME: folder, CURL_HOME: folder };
    return (await run("bash", ["-ec", commands], { cwd: folder, env })).stdout.trim();
  }

  it.each(shellBlocks("docs/guide/quick-start.md"))("$step: $commands", async ({ commands, files, json }) => {
    for (const [name, code] of Object.entries(files)) await writeFile(join(folder, name), code);
    const own = withoutSetUp(commands).replaceAll("npx ", "");
    if (own.includes("curl")) program = await restart();
    const url = program?.url ?? "";

    const output = await runInFolder(own.replaceAll("http://127.0.0.1:3000", url));

    if (json === undefined) return;
    const sample = JSON.parse(json.replaceAll("http://127.0.0.1:3000", url)) as unknown;
    expect(cutLike(sample, JSON.parse(output.split("\n").at(-1) ?? ""))).toEqual(sample);
  });

  it("does not compile with any mistake on the page", async () => {
    const mistakes = [
      ["auth: true })(listBooks)", "auht: true })(listBooks)"],
      ['[["title", "asc"]]', '[["titel", "asc"]]'],
      ["({ title, trx })", "({ titel, trx })"],
    ] as const;
    const pages = [["", ""] as const, ...mistakes].map(([right, wrong], i) =>
      pageSnippets(page).map((snippet) => ({
        ...snippet,
        file: i === 0 ? "right.md" : `mistake-${i}.md`,
        code: snippet.code.replace(right, wrong),
      })),
    );

    const faults = await compileSnippets("mistakes", pages.flat());

    const faulty = faults.flatMap((fault) => /^(?<file>\S+\.md):\d+: error/.exec(fault)?.groups?.["file"] ?? []);
    expect(new Set(faulty)).toEqual(new Set(["mistake-1.md", "mistake-2.md", "mistake-3.md"]));
  });
});
