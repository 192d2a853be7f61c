import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";

/** Another version of Node, installed from the npm package of that name. `.ci/run` uses these folders as well. */
export interface BroughtNode {
  readonly version: string;
  /** The environment in which it comes first in the path, for the processes that tests start as well. */
  readonly environment: { readonly PATH: string };
}

/** Installs a major version of Node into `.cache/node<major>`, unless it is there. */
export function bringNode(major: number, root = "."): BroughtNode {
  const place = resolve(root, `.cache/node${major}`);
  const folder = join(place, "node_modules/.bin");
  if (versionIn(folder)?.startsWith(`v${major}.`) !== true) {
    rmSync(place, { recursive: true, force: true });
    mkdirSync(place, { recursive: true });
    const install = ["install", "--prefix", place, "--no-save", "--no-audit", "--no-fund", `node@${major}`];
    execFileSync("npm", install, { stdio: "inherit" });
  }
  const version = versionIn(folder);
  if (version === undefined)
    throw new Error(`Node ${major} does not start: it needs libatomic1, the package of Debian and Ubuntu`);
  return { version, environment: { PATH: `${folder}${delimiter}${process.env["PATH"] ?? ""}` } };
}

function versionIn(folder: string): string | undefined {
  try {
    return execFileSync(join(folder, "node"), ["--version"], { encoding: "utf8", stdio: "pipe" }).trim();
  } catch {
    return undefined;
  }
}
