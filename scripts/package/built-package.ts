import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { cp, mkdir, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { COMPILER } from "./compiler.ts";
import { root } from "./repository.ts";

const BUILDS = join(root, ".cache", "built");
const KEPT_BUILDS = 5;

/**
 * Makes the folder that a user has after `npm install portico`: empty but for a `package.json` and `node_modules`. The
 * package in it is built from the source as it stands now; its own dependencies are those of the repository.
 */
export async function folderWithPackage(name: string): Promise<string> {
  const folder = join(root, ".cache", "installed", name);
  const installed = join(folder, "node_modules", "portico");
  await rm(folder, { recursive: true, force: true });
  await mkdir(installed, { recursive: true });
  await writeFile(join(folder, "package.json"), JSON.stringify({ dependencies: { portico: "*" } }));
  await cp(builtPackage(), installed, { recursive: true });
  return folder;
}

let built: string | undefined;

/** The package built from the source as it stands now, without the assets. The first test that needs it builds it for all. */
export function builtPackage(): string {
  built ??= join(BUILDS, sourceHash());
  if (!existsSync(built))
    execFileSync(process.execPath, ["--no-warnings", import.meta.filename, built], { stdio: "inherit" });
  return built;
}

/** Options for Node with which a program imports the built package as `portico`. It starts much faster than from the sources. */
export function builtDoors(): readonly string[] {
  return ["--no-warnings", "--import", join(builtPackage(), "doors.mjs")];
}

const BUNDLERS = ["scripts/bundle.ts", "scripts/bundle/joined-imports.ts"];

function sourceHash(): string {
  const hash = createHash("sha256");
  const files = globSync("src/**/*.ts", { cwd: root }).toSorted();
  for (const file of [...files, "package.json", "tsconfig.json", "tsconfig.build.json", ...BUNDLERS])
    hash.update(`${file}\0`).update(readFileSync(join(root, file)));
  return hash.digest("hex").slice(0, 16);
}

const DOORS = `import { registerHooks } from "node:module";
registerHooks({
  resolve(specifier, context, next) {
    const [, door = ""] = /^portico(\\/[\\w/]+)?$/.exec(specifier) ?? [undefined, null];
    return door === null ? next(specifier, context) : next(new URL("./dist" + door + "/index.js", import.meta.url).href, context);
  },
});
`;

if (import.meta.main) {
  const [, , folder = ""] = process.argv;
  while (!existsSync(folder)) await build(folder);
}

/** Test files run in several processes: the one that makes the lock builds, and the others wait for it. */
async function build(folder: string): Promise<void> {
  const lock = `${folder}.lock`;
  await mkdir(BUILDS, { recursive: true });
  try {
    writeFileSync(lock, String(process.pid), { flag: "wx" });
  } catch {
    if (!isHeld(lock)) await rm(lock, { force: true });
    await sleep(100);
    return;
  }
  const fresh = `${folder}.${process.pid}`;
  try {
    // Loaded here: it brings a bundler.
    const { bundle } = await import("../bundle.ts");
    await mkdir(fresh, { recursive: true });
    await cp(join(root, "package.json"), join(fresh, "package.json"));
    await writeFile(join(fresh, "doors.mjs"), DOORS);
    // The type check of the sources finds their faults.
    const args = ["-p", join(root, "tsconfig.build.json"), "--outDir", join(fresh, "dist"), "--noCheck"];
    execFileSync(process.execPath, [...COMPILER, ...args]);
    await bundle(join(fresh, "dist"));
    await rename(fresh, folder);
    await removeOldBuilds();
  } finally {
    await rm(fresh, { recursive: true, force: true });
    await rm(lock, { force: true });
  }
}

/** Removes the builds of earlier sources, except the last ones, which another run may be using. */
async function removeOldBuilds(): Promise<void> {
  const builds = await Promise.all(
    (await readdir(BUILDS))
      .filter((name) => /^\w+$/.test(name))
      .map(async (name) => ({ name, at: (await stat(join(BUILDS, name))).mtimeMs })),
  );
  for (const { name } of builds.toSorted((a, b) => b.at - a.at).slice(KEPT_BUILDS))
    await rm(join(BUILDS, name), { recursive: true, force: true });
}

/** Whether the process that made a lock still exists. One that was killed has left it behind. */
function isHeld(lock: string): boolean {
  try {
    const pid = Number(readFileSync(lock, "utf8"));
    // The file is empty for a moment.
    return pid === 0 || process.kill(pid, 0);
  } catch {
    return false;
  }
}
