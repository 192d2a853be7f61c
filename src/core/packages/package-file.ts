import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

/**
 * Returns the location of a file of this package, from its root. It does not depend on where the calling module is, because the
 * build joins modules. In an application that is bundled into one file, there may be no package: the file is then missing.
 */
export function packageFile(path: string): URL {
  return new URL(path, root());
}

function root(): URL {
  try {
    return pathToFileURL(createRequire(import.meta.url).resolve("portico/package.json"));
  } catch {
    return new URL(import.meta.url);
  }
}
