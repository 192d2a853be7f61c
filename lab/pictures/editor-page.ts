import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createMarkdownRenderer } from "vitepress";
import { markdown } from "../../docs/.vitepress/markdown.ts";
import { COMPILER } from "../../scripts/package/compiler.ts";
import { root } from "../../scripts/package/repository.ts";

/** What the sample needs and an editor would show above it. */
const ABOVE = `import { isEqual, PorticoApp, rule } from "portico";
import { type ObjectType, object, t } from "portico/graphql";
interface OrderRow { id: string; buyer: string; total: number }
declare const orders: { count(): number };
const app = new PorticoApp();
`;
const FILE = "orders.ts";

/** An error that the compiler reports: where it begins, counted from 0, what it marks, and its sentences. */
interface Fault {
  readonly line: number;
  readonly column: number;
  readonly length: number;
  readonly text: string;
}

/** A page that looks like an editor: a sample with two mistakes, and the errors that the compiler reports about it. */
export async function editorPage(): Promise<string> {
  const code = await readFile(new URL("editor-sample.txt", import.meta.url), "utf8");
  const faults = await faultsOf(code);
  const renderer = await createMarkdownRenderer(".", markdown);
  // The highlighter gives up on a line that takes long, as the first one does while the grammar is being compiled.
  renderer.render("```ts\nconst warm = true;\n```");
  const html = renderer.render(`\`\`\`ts\n${code}\`\`\``);
  const lines = code.trimEnd().split("\n");
  const numbers = lines.map((_, i) => i + 1).join("\n");
  const waves = faults
    .map(({ line, column, length }) => `<i style="top:${line * 1.6}em;left:${column}ch;width:${length}ch"></i>`)
    .join("");
  const problems = faults
    .map(
      ({ line, column, text }) =>
        `<li><b>✖</b><span>${escaped(text)} <small>[${line + 1}, ${column + 1}]</small></span></li>`,
    )
    .join("");
  return `<!doctype html><meta charset="utf-8"><style>${STYLE}</style>
<div class="bar"><span class="tab">${FILE}<em>${faults.length}</em></span></div>
<div class="editor"><pre class="numbers">${numbers}</pre><div class="code">${html}${waves}</div></div>
<div class="problems"><h1>Problems <em>${faults.length}</em></h1><ul>${problems}</ul></div>`;
}

async function faultsOf(code: string): Promise<readonly Fault[]> {
  const folder = join(root, ".cache/pictures/editor");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, FILE), ABOVE + code);
  const compilerOptions = { isolatedDeclarations: false, exactOptionalPropertyTypes: false };
  const config = { extends: join(root, "tsconfig.json"), compilerOptions, include: [FILE] };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify(config));
  const output = await new Promise<string>((resolve) => {
    execFile(process.execPath, [...COMPILER, "-p", folder, "--pretty", "false"], { cwd: folder }, (_, out) =>
      resolve(out),
    );
  });
  const before = ABOVE.split("\n").length;
  return [...output.matchAll(/^orders\.ts\((\d+),(\d+)\): error TS\d+: (.*(?:\n +.*)*)/gm)].map(
    ([, line = "", column = "", text = ""]) => {
      const at = { line: Number(line) - before, column: Number(column) - 1 };
      const [word = ""] = /^\w+/.exec(code.split("\n")[at.line]?.slice(at.column) ?? "") ?? [];
      return { ...at, length: word.length, text };
    },
  );
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

const STYLE = `
:root { color-scheme: light dark; --ground: #fff; --panel: #f3f4f6; --line: #d8dde3; --text: #1b2028; --weak: #6b7280; --red: #c81e1e }
@media (prefers-color-scheme: dark) {
  :root { --ground: #14181f; --panel: #1b212b; --line: #2d3542; --text: #e5e9f0; --weak: #98a2b3; --red: #f87171 }
  .shiki span { color: var(--shiki-dark) !important }
}
.shiki span { color: var(--shiki-light) }
body { margin: 0; background: var(--ground); color: var(--text); font: 20px/1.6 "DejaVu Sans Mono", monospace }
.bar { background: var(--panel); border-bottom: 1px solid var(--line); padding: 0 12px; height: 48px; display: flex }
.tab { background: var(--ground); border: 1px solid var(--line); border-width: 0 1px; padding: 8px 18px; font: 18px/32px "DejaVu Sans", sans-serif }
.tab em, h1 em { color: var(--red); font-style: normal; margin-left: 8px }
.editor { display: flex; padding: 18px 0 }
pre { margin: 0; font: inherit }
.numbers { color: var(--weak); text-align: right; width: 56px; padding-right: 24px }
.code { position: relative }
.code button, .code .lang { display: none }
.code i { position: absolute; height: 1.5em; text-decoration: underline wavy var(--red); border-bottom: 2px solid var(--red) }
.problems { background: var(--panel); border-top: 1px solid var(--line); padding: 14px 20px; font: 17px/1.5 "DejaVu Sans", sans-serif }
h1 { font-size: 18px; margin: 0 0 8px }
ul { list-style: none; margin: 0; padding: 0; display: grid; gap: 10px }
li { display: flex; gap: 10px; white-space: pre-wrap }
li b { color: var(--red) } small { color: var(--weak); font-size: 14px }
`;
