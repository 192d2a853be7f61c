import { execFile } from "node:child_process";
import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Growth, grow, growthsIn } from "../scripts/docs/grown-file.ts";
import { folderWithPackage } from "../scripts/package/built-package.ts";
import { read, root } from "../scripts/package/repository.ts";
import { compileSnippets } from "../scripts/snippets/snippets.ts";
import { cutLike } from "./docs/cut-like.ts";
import { type EventStream, openEventStream } from "./docs/event-stream.ts";
import { type Program, startProgram } from "./docs/program.ts";
import { type ShellBlock, shellBlocks } from "./docs/shell-blocks.ts";

const page = "docs/guide/quick-start.md";
const template = "packages/create-portico/templates/minimal";
const ADDRESS = "http://127.0.0.1:3000";
const run = promisify(execFile);

/** The blocks of commands with `curl`, with the growth of the file since the one before. */
function readSteps(): readonly (ShellBlock & { readonly growths: readonly Growth[] })[] {
  let rest = read(page);
  return shellBlocks("docs/guide/quick-start.md")
    .filter(({ commands }) => commands.startsWith("curl"))
    .map((block) => {
      const [above = "", ...below] = rest.split(block.commands);
      rest = below.join(block.commands);
      return { ...block, growths: growthsIn(above) };
    });
}

describe("the quick start, growth by growth and command by command", () => {
  let folder: string;
  let program: Program | undefined;
  let stream: EventStream | undefined;

  beforeAll(async () => {
    folder = await folderWithPackage("quick-start");
    await cp(join(root, template), folder, { recursive: true });
    // Stands in for `npm run dev`, without its log.
    await writeFile(
      join(folder, "start.ts"),
      'import { app } from "./app.ts";\nconsole.log(`listening on ${(await app.listen({ port: 0 })).url}`);\n',
    );
  });
  afterAll(async () => {
    stream?.child.kill();
    await program?.end("SIGTERM");
  });

  async function restart(): Promise<Program> {
    await program?.end("SIGTERM");
    return startProgram(folder, "start.ts", {
      SECRET: "of-the-quick-start-in-its-own-test",
      DATABASE_URL: "sqlite:notes.db",
    });
  }

  it.each(readSteps())("$step: $commands", async ({ commands, growths, json }) => {
    const file = join(folder, "app.ts");
    await writeFile(file, growths.reduce(grow, await readFile(file, "utf8")));
    if (growths.length > 0 || program === undefined) program = await restart();
    const { url } = program;
    const here = commands.replaceAll(ADDRESS, url);
    if (here.includes("curl -sN")) {
      stream = await openEventStream(here, { cwd: folder });
      return;
    }

    const { stdout } = await run("bash", ["-ec", here], { cwd: folder });

    if (json === undefined) return;
    const sample = JSON.parse(json.replaceAll(ADDRESS, url)) as unknown;
    expect(cutLike(sample, JSON.parse(stdout))).toEqual(sample);
  });

  it("shows other users no event of a note that isn't theirs", async () => {
    const [, sample] = /^(event: next\ndata: .+)$/m.exec(read(page)) ?? [];

    await expect.poll(() => stream?.printed).toContain(sample);

    expect(stream?.printed.match(/^event: next$/gm)).toHaveLength(1);
  });

  it("ends with an app.ts that compiles, but not with any mistake on the page", async () => {
    const code = growthsIn(read(page)).reduce(grow, read(`${template}/app.ts`));
    const mistakes = [
      ["{ auth: ownNotes }", "{ auht: ownNotes }"],
      ['[["id", "desc"]]', '[["idd", "desc"]]'],
      ["({ ctx, text })", "({ ctx, txt })"],
    ] as const;
    const pages = [["", ""] as const, ...mistakes].map(([right, wrong], i) => ({
      file: i === 0 ? "right.md" : `mistake-${i}.md`,
      line: 1,
      language: "ts" as const,
      code: code.replace(right, wrong),
    }));

    const faults = await compileSnippets("mistakes", pages);

    const faulty = faults.flatMap((fault) => /^(?<file>\S+\.md):\d+: error/.exec(fault)?.groups?.["file"] ?? []);
    expect(new Set(faulty)).toEqual(new Set(["mistake-1.md", "mistake-2.md", "mistake-3.md"]));
  });
});
