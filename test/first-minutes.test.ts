import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { folderWithPackage } from "./docs/built-package.ts";
import { type Program, startProgram } from "./docs/program.ts";
import { read } from "./docs/repository.ts";
import { compileSnippets, pageSnippets } from "./docs/snippets.ts";

const page = "docs/guide/getting-started.md";
const run = promisify(execFile);

/** Each block of commands for curl, and the JSON that the page shows below it. */
const steps = [...read(page).matchAll(/^```sh\n(?<commands>(?:(?!^```).)*)^```\n\n```json\n(?<answer>.*?)^```/gms)].map(
  ({ groups }, i) => ({ step: i + 1, commands: groups?.["commands"] ?? "", answer: groups?.["answer"] ?? "" }),
);

describe("the first ten minutes, file by file and command by command", () => {
  let folder: string;
  let program: Program;

  beforeAll(async () => {
    folder = await folderWithPackage("first-minutes");
    for (const { code } of pageSnippets(page)) {
      const file = /^\/\/ (?<name>\S+)\n/.exec(code)?.groups?.["name"] ?? "";
      await writeFile(join(folder, file), code);
    }
    await writeFile(join(folder, ".curlrc"), 'write-out = "\\n"');
    program = await startProgram(folder, "server.ts");
  }, 60_000);
  afterAll(async () => void (await program?.end("SIGTERM")));

  it("has a login, a graph and a paged list", () => {
    expect(steps.length).toBe(3);
  });

  it.each(steps)("gets by the commands of step $step the answer that the page shows", async ({ commands, answer }) => {
    const here = commands.replaceAll("http://127.0.0.1:3000", program.url);
    const { stdout } = await run("bash", ["-ec", here], { cwd: folder, env: { ...process.env, CURL_HOME: folder } });

    const last = stdout.trim().split("\n").at(-1) ?? "";
    expect(JSON.parse(last)).toMatchObject(JSON.parse(answer) as object);
  });

  it("does not compile with any of the mistakes of the page", async () => {
    const [app = ""] = pageSnippets(page).map(({ code }) => code.replace("// app.ts\n", ""));
    const mistakes = [
      ["auth: true })(\n", "auht: true })(\n"],
      ['[["title", "asc"]]', '[["titel", "asc"]]'],
      ["({ title, transaction })", "({ titel, transaction })"],
    ] as const;
    const snippets = mistakes.map(([right, wrong], i) => ({
      file: `mistake-${i}.md`,
      line: 1,
      language: "ts" as const,
      code: app.replace(right, wrong),
    }));

    const faults = await compileSnippets("mistakes", [
      { file: "right.md", line: 1, language: "ts", code: app },
      ...snippets,
    ]);

    expect(snippets.filter(({ code }) => code === app)).toEqual([]);
    const faulty = faults.flatMap((fault) => /^(?<file>\S+\.md):\d+: error/.exec(fault)?.groups?.["file"] ?? []);
    expect(new Set(faulty)).toEqual(new Set(["mistake-0.md", "mistake-1.md", "mistake-2.md"]));
  }, 60_000);

  it("passes the test of the page", async () => {
    const vitest = join(dirname(createRequire(import.meta.url).resolve("vitest/package.json")), "vitest.mjs");
    const { stdout } = await run(process.execPath, [vitest, "run", "--root", folder], { cwd: folder });

    expect(stdout).toMatch(/Tests\s.*1 passed/);
  });
});
