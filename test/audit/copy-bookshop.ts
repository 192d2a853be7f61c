import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { root } from "../../scripts/package/repository.ts";

/** A text in a file under `src/` of the bookshop, and its replacement. */
export interface Edit {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** Copies examples/bookshop with these changes. The folder is inside the repository, where its packages are found. */
export async function copyBookshop(folder: string, edits: readonly Edit[]): Promise<string> {
  await mkdir(folder, { recursive: true });
  for (const name of ["src", "package.json", "portico.config.ts", "access.md"])
    await cp(join(root, "examples/bookshop", name), join(folder, name), { recursive: true });
  for (const { file, from, to } of edits) {
    const path = join(folder, "src", file);
    const text = await readFile(path, "utf8");
    if (!text.includes(from)) throw new Error(`${file} does not contain ${JSON.stringify(from)}`);
    // A function, because a replacement text could contain `$&`.
    const changed = text.replaceAll(from, () => to);
    await writeFile(path, changed);
  }
  return folder;
}
