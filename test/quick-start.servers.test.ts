import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { parseEnv, promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { folderWithPackage } from "../scripts/package/built-package.ts";
import { read, root } from "../scripts/package/repository.ts";
import { compileSnippets, pageSnippets } from "../scripts/snippets/snippets.ts";
import { cutLike } from "./docs/cut-like.ts";
import { type Program, startProgram } from "./docs/program.ts";

const page = "docs/guide/quick-start.md";
const run = promisify(execFile);

/** A block of shell commands, with the files that the page creates before it and the response that it shows after it. */
interface Step {
  readonly first: string;
  readonly commands: string;
  readonly files: Readonly<Record<string, string>>;
  readonly response: string | undefined;
}

function readSteps(): readonly Step[] {
  const blocks = [...read(page).matchAll(/^```(?<language>\w+)\n(?<text>.*?)^```$/gms)];
  const steps: Step[] = [];
  let files: Record<string, string> = {};
  for (const [i, { groups }] of blocks.entries()) {
    const { language, text = "" } = groups ?? {};
    const file = /^\/\/ (?<name>\S+)\n/.exec(text)?.groups?.["name"];
    if (file !== undefined) files[file] = text;
    if (language !== "sh") continue;
    const next = blocks[i + 1]?.groups;
    const response = next?.["language"] === "json" ? next["text"] : undefined;
    steps.push({ first: text.split("\n")[0] ?? "", commands: text, files, response });
    files = {};
  }
  return steps;
}

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

  it.each(readSteps())("runs the commands from `$first`", async ({ commands, files, response }) => {
    for (const [name, code] of Object.entries(files)) await writeFile(join(folder, name), code);
    // The test has created the folder, installed the packages and started the server in its own way.
    const own = commands
      .replaceAll(/^(?:mkdir|cd |npm create|npm run|npm install|node --env-file).*$/gm, "")
      .replaceAll("npx ", "");
    if (own.includes("curl")) program = await restart();
    const url = program?.url ?? "";

    const output = await runInFolder(own.replaceAll("http://127.0.0.1:3000", url));

    if (response === undefined) return;
    const sample = JSON.parse(response.replaceAll("http://127.0.0.1:3000", url)) as unknown;
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
