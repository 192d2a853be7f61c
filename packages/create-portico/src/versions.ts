import { existsSync, readFileSync } from "node:fs";
import { relative, resolve, sep } from "node:path";

/** The version range of each package that a template depends on. */
export type Versions = Readonly<Record<string, string>>;

/** The versions that Portico itself is tested with. The build writes them. */
export function readVersions(): Versions {
  return JSON.parse(readFileSync(new URL("../versions.json", import.meta.url), "utf8")) as Versions;
}

/** The dependency for `--portico`: a tarball or folder is written as a path from the project, anything else as it is. */
export function porticoVersion(given: string, cwd: string, folder: string): string {
  const path = resolve(cwd, given);
  return existsSync(path) ? `file:${relative(folder, path).split(sep).join("/")}` : given;
}
