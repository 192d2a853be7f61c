import { execFile } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { promisify } from "node:util";
import { builtPackage } from "../package/built-package.ts";
import { COMPILER } from "../package/compiler.ts";
import { read, root } from "../package/repository.ts";

/** A piece of code in a page or a doc comment, and where it stands. */
export interface Snippet {
  /** Path from the root of the repository. */
  readonly file: string;
  /** Line of its first line of code, counted from 1. */
  readonly line: number;
  readonly language: "ts" | "js";
  readonly code: string;
}

const FENCE = /^(?<indent>\s*)```(?<language>\S*)(?: (?<mark>\w+))?/;
const LANGUAGES: Readonly<Record<string, Snippet["language"]>> = {
  ts: "ts",
  typescript: "ts",
  js: "js",
  javascript: "js",
};

/** The TypeScript and JavaScript of a page, block by block. */
export function pageSnippets(file: string): readonly Snippet[] {
  return fencedSnippets(file, read(file).split("\n"));
}

/** The blocks of a page that are marked as code for another framework (`ts foreign`), whose packages are not installed here. */
export function foreignSnippets(file: string): readonly Snippet[] {
  return fencedSnippets(file, read(file).split("\n"), true);
}

/** The examples in the doc comments of a source file. */
export function commentSnippets(file: string): readonly Snippet[] {
  // Every line that is no comment becomes empty, so that the numbers of the others stay.
  let isComment = false;
  const lines = read(file)
    .split("\n")
    .map((line) => {
      if (/^\s*\/\*\*/.test(line)) isComment = true;
      const text = isComment ? line.replace(/^\s*(\/\*\*|\*\/|\*) ?/, "") : "";
      if (line.includes("*/")) isComment = false;
      return text;
    });
  return fencedSnippets(file, lines);
}

function fencedSnippets(file: string, lines: readonly string[], isForeign = false): readonly Snippet[] {
  const snippets: Snippet[] = [];
  for (let i = 0; i < lines.length; i++) {
    const fence = FENCE.exec(lines[i] as string)?.groups;
    if (fence === undefined) continue;
    const start = i + 1;
    do i++;
    while (i < lines.length && !/^\s*```\s*$/.test(lines[i] as string));
    const language = LANGUAGES[fence["language"] ?? ""];
    const indent = fence["indent"]?.length ?? 0;
    const code = lines.slice(start, i).map((line) => line.slice(indent));
    // A part of a file, which a test compares with the file.
    if (fence["mark"] === "excerpt") continue;
    // Code with any other mark is compiled, so a misspelled mark hides nothing.
    if (language !== undefined && (fence["mark"] === "foreign") === isForeign)
      snippets.push({ file, line: start + 1, language, code: code.join("\n") });
  }
  return snippets;
}

/**
 * Type-checks the snippets with the compiler and the options of the repository, and gives one line per fault, with the
 * page and the line where it stands. `name` is the folder below `.cache/snippets/` that they are written to.
 *
 * Each snippet is a module. Those of one page share a folder, and one whose first line is a comment with a file name
 * (`// app.ts`) has that name: the others of the page can import it. A page that shows a file several times, as it grows,
 * gives the name to the last version.
 */
export async function compileSnippets(name: string, snippets: readonly Snippet[]): Promise<readonly string[]> {
  const folder = join(root, ".cache", "snippets", name);
  await rm(folder, { recursive: true, force: true });
  const written = new Map<string, Snippet>();
  const files = snippets.map(fileOf);
  for (const [i, snippet] of snippets.entries()) {
    const isReplaced = files.includes(files[i] as string, i + 1);
    const file = join(folder, isReplaced ? unnamedFileOf(snippet) : (files[i] as string));
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, snippet.code);
    written.set(file, snippet);
  }
  // What one snippet declares about "portico" would hold for all of its program, so those are alone in theirs.
  const isAugmenting = ({ code }: Snippet): boolean => /^declare module /m.test(code);
  const [alone, together] = [
    [...written].filter(([, s]) => isAugmenting(s)),
    [...written].filter(([, s]) => !isAugmenting(s)),
  ];
  // The declarations of the package: with its sources, each program would check all of them again.
  const declarations = join(builtPackage(), "dist");
  const programs = [together, ...alone.map((entry) => [entry])].filter((program) => program.length > 0);
  const faults: string[] = [];
  for (const [index, program] of programs.entries()) {
    const config = join(folder, `tsconfig.${index}.json`);
    await writeFile(
      config,
      JSON.stringify(
        configOf(
          folder,
          program.map(([file]) => file),
          declarations,
        ),
      ),
    );
    let isForeign = false;
    for (const line of await compile(config)) {
      // What continues a message is indented below it.
      const fault: readonly string[] = line.startsWith(" ") ? (isForeign ? [] : [line]) : toFault(line, written);
      isForeign = fault.length === 0;
      faults.push(...fault);
    }
  }
  return faults;
}

function fileOf(snippet: Snippet): string {
  const named = /^\/\/ ([\w.-]+\.[cm]?[jt]s)\n/.exec(snippet.code)?.[1];
  return named === undefined ? unnamedFileOf(snippet) : join(folderOf(snippet), named);
}

function unnamedFileOf(snippet: Snippet): string {
  return join(folderOf(snippet), `line-${snippet.line}.${snippet.language}`);
}

function folderOf({ file }: Snippet): string {
  return file
    .replace(/\.\w+$/, "")
    .replaceAll("/", "-")
    .toLowerCase();
}

function configOf(folder: string, files: readonly string[], declarations: string): object {
  const up = relative(folder, root).split(sep).join("/");
  return {
    extends: `${up}/tsconfig.json`,
    compilerOptions: {
      rootDir: up,
      allowJs: true,
      checkJs: true,
      moduleDetection: "force",
      declaration: false,
      isolatedDeclarations: false,
      noUnusedLocals: false,
      noUnusedParameters: false,
      paths: pathsTo(relative(folder, declarations).split(sep).join("/"), up),
    },
    include: [],
    files,
  };
}

/** The entry points in the declarations of the built package, under the names that the repository's own configuration gives to the sources. */
export function pathsTo(declarations: string, up: string): Readonly<Record<string, readonly string[]>> {
  const { compilerOptions } = JSON.parse(read("tsconfig.json")) as {
    readonly compilerOptions: { readonly paths: Readonly<Record<string, readonly [string]>> };
  };
  return Object.fromEntries(
    Object.entries(compilerOptions.paths).map(([name, [source]]) => [
      name,
      [
        source.startsWith("./src/")
          ? source.replace("./src", declarations).replace(/\.ts$/, ".d.ts")
          : `${up}/${source}`,
      ],
    ]),
  );
}

async function compile(config: string): Promise<readonly string[]> {
  try {
    await promisify(execFile)(process.execPath, [...COMPILER, "-p", config, "--pretty", "false"], { cwd: root });
    return [];
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { readonly stdout?: string; readonly stderr?: string };
    const lines = `${stdout}${stderr}`.split("\n").filter((line) => line !== "");
    if (lines.length === 0) throw error;
    return lines;
  }
}

/** What is wrong in `src/` itself is found by the type check of `src/`, once, and not here again. */
function toFault(output: string, written: ReadonlyMap<string, Snippet>): readonly string[] {
  const place = /^(?<file>.+?)\((?<line>\d+),\d+\): (?<fault>.*)$/.exec(output)?.groups;
  if (place === undefined) return [output];
  const snippet = written.get(join(root, place["file"] as string));
  if (snippet !== undefined) return [`${snippet.file}:${snippet.line + Number(place["line"]) - 1}: ${place["fault"]}`];
  return (place["file"] as string).startsWith("src/") ? [] : [output];
}
