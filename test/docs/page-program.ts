import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "../../scripts/package/repository.ts";
import { compileSnippets, pageSnippets } from "../../scripts/snippets/snippets.ts";

/** The code of a page, compiled, with its files to import. */
export interface PageProgram {
  /** One line per fault of the compiler. */
  readonly faults: readonly string[];
  /** Imports the snippet whose first line is a comment with this file name. */
  readonly load: <Module>(file: string) => Promise<Module>;
}

/** Compiles the code of a page below `docs`, so that a test can run it. */
export async function pageProgram(page: string): Promise<PageProgram> {
  const name = basename(page, ".md");
  const faults = await compileSnippets(`program-${name}`, pageSnippets(page));
  const folder = join(root, ".cache", "snippets", `program-${name}`, page.replace(/\.md$/, "").replaceAll("/", "-"));
  return {
    faults,
    load: async <Module>(file: string) => (await import(pathToFileURL(join(folder, file)).href)) as Module,
  };
}
