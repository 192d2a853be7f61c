import { readFileSync, writeFileSync } from "node:fs";
import { glob } from "node:fs/promises";
import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { createContext, runInContext } from "node:vm";
import { check } from "recheck";
import { parseSync } from "vite";

/** A regular expression as the source has it. */
export interface Pattern {
  readonly file: string;
  readonly line: number;
  readonly source: string;
  readonly flags: string;
}

/** A pattern that is super-linear, and why no client can make use of it. */
export interface Exception {
  readonly file: string;
  readonly source: string;
  readonly reason: string;
}

const EXCEPTIONS: readonly Exception[] = [
  {
    file: "src/auth/sessions/device-label.ts",
    source: String.raw`\bVersion\/[\d.]+ .*\bSafari\/`,
    reason: "reads at most 1,000 characters of a User-Agent",
  },
  {
    file: "src/core/configuration-error.ts",
    source: String.raw`:\/\/([^/?#:@]*):\S*@`,
    reason: "reads an option, at startup",
  },
  {
    file: "src/core/source-reader.ts",
    source: String.raw`\/\*[\s\S]*?\*\/`,
    reason: "reads 40 characters of a resolver, at startup",
  },
  {
    file: "src/openapi/path-template.ts",
    source: String.raw`^(.*)\/:([^/(?]+)(\(.*\))?\?$`,
    reason: "reads the path of a declared route, at startup",
  },
  {
    file: "src/openapi/schema-source.ts",
    source: String.raw`([^/#]+?)(?:\.schema)?(?:\.json)?(?:#.*)?$`,
    reason: "reads the $id of a declared schema, at startup",
  },
];

/** Every regular expression of a file: literals, and `RegExp` with what the constants of the file say. Throws when one is made of more. */
export function patternsIn(file: string, code: string): readonly Pattern[] {
  const found: Pattern[] = [];
  const { program, errors } = parseSync(file, code);
  if (errors[0] !== undefined) throw new Error(`${file}: ${errors[0].message}`);
  visit(program, ({ type, start, regex, callee, arguments: given }) => {
    const line = code.slice(0, start).split("\n").length;
    if (regex !== undefined) found.push({ file, line, source: regex.pattern, flags: regex.flags });
    if (!/^(?:New|Call)Expression$/.test(type) || callee?.name !== "RegExp") return;
    const text = (given ?? []).map((argument) => code.slice(argument.start, argument.end)).join();
    try {
      const { source, flags } = evaluate(program, code, `RegExp(${text})`) as RegExp;
      found.push({ file, line, source, flags });
    } catch (cause) {
      throw new Error(`${file}:${line}: RegExp(${text}) depends on more than the constants of its file`, { cause });
    }
  });
  return found;
}

/** One sentence for each pattern that is super-linear without an exception, and for each exception that is out of date. */
export async function faultsOf(
  patterns: readonly Pattern[],
  exceptions: readonly Exception[] = EXCEPTIONS,
): Promise<readonly string[]> {
  const spent = new Set<Exception>();
  const faults: string[] = [];
  const waiting = [...patterns];
  const work = async (): Promise<void> => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { file, line, source, flags } = next;
      const fault = await faultOf(source, flags);
      if (fault === null) continue;
      const exception = exceptions.find((entry) => entry.file === file && entry.source === source);
      if (exception === undefined) faults.push(`${file}:${line}: /${source}/${flags} ${fault}`);
      else spent.add(exception);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  const idle = exceptions.filter((entry) => !spent.has(entry));
  return [
    ...faults,
    ...idle.map(({ file, source }) => `${file}: the exception for /${source}/ is not needed any more`),
  ];
}

/** Without limits of time, which would depend on how busy the machine is. */
async function faultOf(source: string, flags: string): Promise<string | null> {
  const limits = { timeout: null, attackTimeout: null, incubationTimeout: null };
  const result = await check(source, flags, limits);
  if (result.status === "safe") return null;
  if (result.status === "unknown") return `cannot be checked: ${result.error.kind}`;
  return `takes ${result.complexity.summary} time, for example on ${result.attack.pattern}`;
}

// The part of the syntax tree that is read here.
interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly name?: string;
  readonly regex?: { readonly pattern: string; readonly flags: string };
  readonly callee?: Node;
  readonly arguments?: readonly Node[];
  readonly declaration?: Node | null;
  readonly declarations?: readonly Node[];
  readonly id?: Node;
  readonly init?: Node;
}

function visit(node: unknown, see: (node: Node) => void): void {
  if (typeof node !== "object" || node === null) return;
  if (typeof (node as Node).type === "string") see(node as Node);
  for (const child of Object.values(node)) visit(child, see);
}

/** The value of an expression over the constants of the file. Those that need an import are left out. */
function evaluate(program: { readonly body: readonly unknown[] }, code: string, expression: string): unknown {
  const context = createContext({});
  const statements = (program.body as readonly Node[]).map((statement) => statement.declaration ?? statement);
  for (const { id, init } of statements.flatMap(({ declarations = [] }) => declarations)) {
    try {
      runInContext(`var ${id?.name} = ${code.slice(init?.start, init?.end)}`, context);
    } catch {
      continue;
    }
  }
  return runInContext(expression, context);
}

/** The patterns that a version of the checker has found to be linear. The same version always says the same of a pattern. */
interface KnownPatterns {
  readonly recheck: string;
  readonly linear: readonly string[];
}

const KNOWN = join(import.meta.dirname, "known-patterns.json");
const textOf = ({ source, flags }: Pattern): string => `/${source}/${flags}`;

// node scripts/patterns.ts checks every pattern, which takes more than a minute of CPU time.
// --known skips those that known-patterns.json lists for the installed checker; --write writes that list.
if (import.meta.main) {
  const { version } = createRequire(import.meta.url)("recheck/package.json") as { readonly version: string };
  const known = JSON.parse(readFileSync(KNOWN, "utf8")) as KnownPatterns;
  const skipped = new Set(process.argv.includes("--known") && known.recheck === version ? known.linear : []);
  const files = await Array.fromAsync(glob("src/**/*.ts"));
  const patterns = files.flatMap((file) => patternsIn(file, readFileSync(file, "utf8")));
  const faults = await faultsOf(patterns.filter((pattern) => !skipped.has(textOf(pattern))));
  if (process.argv.includes("--write") && faults.length === 0) {
    const excepted = new Set(EXCEPTIONS.map(({ source }) => source));
    const linear = [...new Set(patterns.filter(({ source }) => !excepted.has(source)).map(textOf))].toSorted();
    writeFileSync(KNOWN, `${JSON.stringify({ recheck: version, linear } satisfies KnownPatterns, null, 2)}\n`);
  }
  console.log([...faults, `${patterns.length} patterns in ${files.length} files, ${faults.length} faults`].join("\n"));
  // The checker leaves a process behind that would keep this one alive.
  process.exit(faults.length === 0 ? 0 : 1);
}
