import { readFileSync } from "node:fs";
import { glob } from "node:fs/promises";
import { parseSync } from "vite";

/** Words that the project does not use, and the words for them. */
export interface Pattern {
  readonly words: RegExp;
  readonly instead: string;
}

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

/** "Queries of your own table" is natural, "a table of your own" is not. */
const OWN = String.raw`\bof\s+(?:my|your|its|his|their|our|one's)\s+own(?=\s*(?:[^\w\s]|$|(?:is|are|was|has|have|can|may|must|that|which|and|or|in|on|to|for|with|by|as|at|of|from|when|where|beside|below|instead)\b))`;
/** Checked in scripts and tests as well. */
const PEOPLE: Pattern = {
  words: /\b(?:nobody|somebody|whoever)\b/gi,
  instead: "anonymous, signed-in user, anyone who",
};
const PATTERNS: readonly Pattern[] = [
  PEOPLE,
  { words: /\bf(?:ou|i)nds?\s+out\b/gi, instead: "determine, authenticate" },
  { words: /\b(?:is|are|was|were|be|been)\s+(?:told|heard|asked)\b/gi, instead: "is notified, receives, is called" },
  { words: /\bmend(?:s|ed|ing)?\b/gi, instead: "fix" },
  { words: /\bleaf(?:s|ed|ing)?\s+through\b/gi, instead: "page through" },
  { words: /\bfor\s+ever\b/gi, instead: "0 disables the limit, never expires" },
  { words: new RegExp(OWN, "gi"), instead: "your own X, a custom X" },
  {
    words: /(?<!\bthere\s+)\b(?:is|are|was|were)\s+(?:none\b|no\s+(?!longer|more|less|fewer|later|earlier|other)\w+)/gi,
    instead: "is not a valid X, is not an X",
  },
  { words: /\b(?:do|does|did)\s+not\s+count\b|\bstill\s+counts?\b/gi, instead: "is not valid, is still valid" },
  { words: /\b(?:is|are|was|were)\s+(?:away|over)\b(?!\s+(?:the|a|an|\d))/gi, instead: "is unavailable, has ended" },
  { words: /\b(?:the|a|an|every|each|this)\s+answers?\b/gi, instead: "the response" },
  { words: /\b(?:a|the|this|each|every|public)\s+doors?\b/gi, instead: "entry point" },
  { words: /\bthe\s+checker\b/gi, instead: "TypeScript, the compiler" },
  { words: /\b(?:a|the|lower)\s+ranks?\b|\b(?:the\s+house|house\s+style)\b/gi, instead: "layer, source tree" },
  // The beginning of a sentence, a heading or a list item, unless it is a question.
  {
    words: /(?<=^\s*(?:(?:[-*]|\d+\.|#+)\s+(?:\*\*)?)?|[.!?]\)?\s+)(?:What|Who|Whatever)\s(?![^.!?|\n]*\?)/gm,
    instead: "the noun itself: no sentence begins with What or Who",
  },
  { words: /(?<!\bsuch\s+)\bas\s+one\s+that\b|\band\s+none\s+if\b/gi, instead: "exactly as if, and never if" },
  {
    words: /\|\s*(?:what|who|whatever)\s(?![^|\n]*\?)/gi,
    instead: "the noun itself: no table cell begins with What or Who",
  },
];

/** One word for one thing, and the one that people search for. "Social login" and "login CSRF" are such words. */
const PAGE_PATTERNS: readonly Pattern[] = [
  ...PATTERNS,
  {
    words: /\b(?:log(?:s|ged|ging)?[ -]in|(?<!social )logins?(?! CSRF))\b/gi,
    instead: "sign in (verb), sign-in (noun)",
  },
  { words: /\bexplorers?\b/gi, instead: "GraphiQL" },
];

const COMMENT_PATTERNS: readonly Pattern[] = [
  ...PATTERNS,
  { words: /^\s*The same\b/g, instead: "what it is: no comment begins with The same" },
];

const PLACES = [
  "*.md",
  "docs/**/*.md",
  "examples/*/*.md",
  ".changeset/*.md",
  "{browser,src}/**/*.ts",
  "packages/*/*.md",
  "packages/*/src/**/*.ts",
  "{lab,scripts,test}/**/*.ts",
];
/** The second is about such words. */
const EXCLUDED = ["**/node_modules/**", "test/scripts/prose.test.ts"];
/** Code that users do not read. */
const INTERNAL = /^(?:lab|scripts|test)\//;
const EXCEPTIONS = new URL("prose-exceptions.txt", import.meta.url);

if (import.meta.main) {
  const only = process.argv.slice(2);
  const files = only.length > 0 ? only : await Array.fromAsync(glob(PLACES, { exclude: EXCLUDED }));
  const { open, unneeded } = review(
    files.toSorted().flatMap((file) => findingsIn(file, readFileSync(file, "utf8"))),
    exceptionsIn(readFileSync(EXCEPTIONS, "utf8")),
  );
  report(open, only.length > 0 || open.length <= 50);
  if (only.length === 0) for (const { file, words } of unneeded) console.log(`${file}: not needed any more: ${words}`);
  console.log(`prose: ${files.length} files, ${open.length} findings`);
  process.exitCode = open.length === 0 && (only.length > 0 || unneeded.length === 0) ? 0 : 1;
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
    else proses.push({ text, at: start, patterns: isInternal ? [PEOPLE] : COMMENT_PATTERNS });
    last = { end, isLine };
  }
  visit(program, ({ type, start, end, value }) => {
    const isText = type === "TemplateElement" || (type === "Literal" && typeof value === "string");
    const text = code.slice(start, end);
    if (isText && /\w \w/.test(text))
      proses.push({ text: text.replace(/^["']|["']$/g, " "), at: start, patterns: isInternal ? [PEOPLE] : PATTERNS });
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
