import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** One small change of the source. It takes effect while the instrumented code runs with its id. */
export interface Mutant {
  readonly id: string;
  readonly mutatorName: string;
  readonly replacement?: string;
  readonly location: { readonly start: Position; readonly end: Position };
  /** The changed file, relative to the root of the repository. */
  readonly fileName: string;
  /** Set when the file itself says that the mutant is not to be run. */
  readonly status?: string;
}

interface Position {
  readonly line: number;
  readonly column: number;
}

/** A file, and the ranges of its lines that are mutated. Without ranges the whole file is. */
export interface MutatedFile {
  readonly name: string;
  readonly lines?: readonly (readonly [first: number, last: number])[];
}

interface Instrumenter {
  instrument(
    files: readonly { readonly name: string; readonly content: string; readonly mutate: unknown }[],
    options: object,
  ): Promise<{
    readonly files: readonly { readonly name: string; readonly content: string }[];
    readonly mutants: Mutant[];
  }>;
}

const root = join(import.meta.dirname, "../..");
const LIBRARY = join(root, "tools/mutation/node_modules/@stryker-mutator/instrumenter/dist/src/index.js");

/** Writes the files into a folder with all their mutants in them, and returns the mutants. */
export async function instrument(files: readonly MutatedFile[], folder: string): Promise<readonly Mutant[]> {
  const { Instrumenter } = (await import(LIBRARY).catch((cause: unknown) => {
    throw new Error('run "npm ci --prefix tools/mutation" first', { cause });
  })) as { readonly Instrumenter: new (logger: object) => Instrumenter };
  const quiet = { debug: () => {}, info: () => {}, warn: console.warn, isDebugEnabled: () => false };
  const sources = files.map(({ name, lines }) => ({
    name,
    content: readFileSync(join(root, name), "utf8"),
    mutate:
      lines?.map(([first, last]) => ({
        start: { line: first - 1, column: 0 },
        end: { line: last - 1, column: Number.MAX_SAFE_INTEGER },
      })) ?? true,
  }));
  const result = await new Instrumenter(quiet).instrument(sources, {
    ignorers: [],
    excludedMutations: [],
    plugins: null,
  });
  rmSync(folder, { recursive: true, force: true });
  for (const { name, content } of result.files) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return result.mutants;
}
