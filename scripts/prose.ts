import { readFileSync } from "node:fs";
import { glob } from "node:fs/promises";
import { parseSync } from "vite";
import { newSubjects, subjectFaults } from "./prose/commit-subjects.ts";
import { COMMENT_PATTERNS, EVERYWHERE, PAGE_PATTERNS, PATTERNS, type Pattern } from "./prose/patterns.ts";

/** A place in a file that a pattern matches. */
export interface Finding {
  readonly file: string;
  readonly line: number;
  readonly found: string;
  readonly instead: string;
}

/** A place that was reviewed: the words around it, and why they stay. */
export interface Exception {
  readonly file: string;
  readonly words: string;
}

/** The files that are read. */
export const PLACES: readonly string[] = [
  "*.md",
  "docs/**/*.md",
  "examples/*/*.md",
  ".changeset/*.md",
  "{browser,src}/**/*.ts",
  "docs/.vitepress/**/*.ts",
  "examples/**/*.ts",
  "packages/*/*.md",
  "packages/*/{src,templates}/**/*.ts",
  "{lab,scripts,test}/**/*.ts",
];
/** The second is about such words. */
const EXCLUDED = ["**/{node_modules,generated,dist,cache}/**", "test/scripts/prose.test.ts"];
/** Code that users do not read. */
const INTERNAL = /^(?:lab|scripts|test)\//;
const EXCEPTIONS = new URL("prose-exceptions.txt", import.meta.url);

if (import.meta.main) {
  const only = process.argv.slice(2);
  const isWhole = only.length === 0;
  const files = isWhole ? await Array.fromAsync(glob(PLACES, { exclude: EXCLUDED })) : only;
  const { open, unneeded } = review(
    files.toSorted().flatMap((file) => findingsIn(file, readFileSync(file, "utf8"))),
    exceptionsIn(readFileSync(EXCEPTIONS, "utf8")),
  );
  report(open, !isWhole || open.length <= 50);
  if (isWhole) for (const { file, words } of unneeded) console.log(`${file}: not needed any more: ${words}`);
  const subjects = isWhole ? newSubjects() : [];
  const faulty = subjects.filter((subject) => subjectFaults(subject).length > 0);
  for (const subject of faulty) console.log(`commit "${subject}"\n    ${subjectFaults(subject).join("\n    ")}`);
  console.log(`prose: ${files.length} files and ${subjects.length} commits, ${open.length + faulty.length} findings`);
  process.exitCode = open.length + faulty.length === 0 && (!isWhole || unneeded.length === 0) ? 0 : 1;
}

/** Every place of a file that a pattern matches: in the text of a page, or in the comments and strings of code. */
export function findingsIn(file: string, content: string): readonly Finding[] {
  const proses = file.endsWith(".ts")
    ? proseOfCode(file, content)
    : [{ text: proseOfPage(content), at: 0, patterns: PAGE_PATTERNS }];
  return proses
    .flatMap(({ text, at, patterns }) =>
      patterns.flatMap(({ words, instead }) =>
        [...text.matchAll(words)].map((match) => ({
          file,
          line: content.slice(0, at + match.index).split("\n").length,
          found: surroundings(content, at + match.index, match[0].length),
          instead,
        })),
      ),
    )
    .toSorted((a, b) => a.line - b.line);
}

/** What is left after the exceptions, and the exceptions that nothing needs. */
export function review(
  findings: readonly Finding[],
  exceptions: readonly Exception[],
): { readonly open: readonly Finding[]; readonly unneeded: readonly Exception[] } {
  const covers = ({ file, words }: Exception, finding: Finding): boolean =>
    file === finding.file && finding.found.includes(words);
  return {
    open: findings.filter((finding) => !exceptions.some((exception) => covers(exception, finding))),
    unneeded: exceptions.filter((exception) => !findings.some((finding) => covers(exception, finding))),
  };
}

/** One exception a line: the file, a colon, and the words. Lines that begin with `#` say why. */
export function exceptionsIn(text: string): readonly Exception[] {
  return text
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => ({ file: line.slice(0, line.indexOf(": ")), words: line.slice(line.indexOf(": ") + 2) }));
}

/** Code and addresses become letters, so that every place keeps its position. */
function proseOfPage(content: string): string {
  return content
    .replace(/^ *```.*?^ *```/gms, blank)
    .replace(/^---\n.*?^---$/ms, blank)
    .replace(/`[^`\n]+`/g, letters)
    .replace(/\]\([^)\s]+\)/g, letters);
}

interface Prose {
  readonly text: string;
  readonly at: number;
  readonly patterns: readonly Pattern[];
}

function proseOfCode(file: string, code: string): readonly Prose[] {
  const { program, comments } = parseSync(file, code);
  const isInternal = INTERNAL.test(file);
  const proses: Prose[] = [];
  let last = { end: -1, isLine: false };
  for (const { type, start, end } of comments) {
    const text = proseOfPage(code.slice(start, end).replace(/^\/[/*]+|^ *\*(?!\/)|\*\/$/gm, blank));
    const isLine = type === "Line";
    const before = proses.at(-1);
    // Comments on lines one below the other are one text.
    if (isLine && last.isLine && before !== undefined && /^\n\s*$/.test(code.slice(last.end, start)))
      proses[proses.length - 1] = { ...before, text: before.text + code.slice(last.end, start) + text };
    else proses.push({ text, at: start, patterns: isInternal ? EVERYWHERE : COMMENT_PATTERNS });
    last = { end, isLine };
  }
  visit(program, ({ type, start, end, value }) => {
    const isText = type === "TemplateElement" || (type === "Literal" && typeof value === "string");
    const text = code.slice(start, end);
    if (isText && /\w \w/.test(text))
      proses.push({ text: text.replace(/^["']|["']$/g, " "), at: start, patterns: isInternal ? EVERYWHERE : PATTERNS });
  });
  return proses;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly value?: unknown;
}

function visit(node: object, see: (node: Node) => void): void {
  if ("type" in node) see(node as Node);
  for (const child of Object.values(node)) if (typeof child === "object" && child !== null) visit(child as object, see);
}

function blank(text: string): string {
  return text.replace(/[^\n]/g, " ");
}

function letters(text: string): string {
  return text.replace(/[^\n]/g, "x");
}

function surroundings(content: string, at: number, length: number): string {
  const [before, after] = [content.slice(Math.max(0, at - 30), at), content.slice(at + length, at + length + 30)];
  return `${before.split("\n").at(-1)}${content.slice(at, at + length)}${after.split("\n")[0]}`.replace(
    /\s+(?:\*|\/\/)?\s*/g,
    " ",
  );
}

function report(findings: readonly Finding[], isLong: boolean): void {
  if (isLong)
    for (const { file, line, found, instead } of findings) console.log(`${file}:${line}: ${found}\n    ${instead}`);
  else
    for (const [file, all] of Map.groupBy(findings, ({ file }) => file))
      console.log(`${String(all.length).padStart(5)}  ${file}`);
}
