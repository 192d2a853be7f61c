import { readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** The root of the repository, with a slash at its end. */
export const root: string = fileURLToPath(new URL("../../", import.meta.url));

/** The files below a folder whose name ends so, in order, as paths from the root with forward slashes. */
export async function filesBelow(folder: string, ending: string): Promise<readonly string[]> {
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending) && !entry.parentPath.includes("node_modules"))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join("/"))
    .toSorted();
}

/** The text of a file, given by its path from the root. */
export function read(file: string): string {
  return readFileSync(join(root, file), "utf8");
}
