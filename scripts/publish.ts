import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { withoutNpmNotes } from "./release/without-npm-notes.ts";

// node scripts/publish.ts: publishes all packages. Those of packages/ come first, each unless the registry has its version already:
// the workflow repeats an interrupted release until portico is published. Changesets does that last, and tags the release.

interface Manifest {
  readonly name: string;
  readonly version: string;
}

const root = join(import.meta.dirname, "..");
const { version } = manifest(root);
publish(root, () => {
  for (const folder of ["graphql-gauntlet", "portico-client", "create-portico"]) publishCompanion(folder);
  execFileSync("npx", ["changeset", "publish"], { cwd: root, stdio: "inherit" });
});

function publishCompanion(folder: string): void {
  const place = join(root, "packages", folder);
  const companion = manifest(place);
  if (companion.version !== version)
    throw new Error(`${companion.name} has version ${companion.version}, and portico ${version}`);
  if (isPublished(companion)) console.log(`${companion.name}@${version} is published already`);
  else publish(place, () => execFileSync("npm", ["publish", "--access", "public"], { cwd: place, stdio: "inherit" }));
}

/** Publishes while the README says nothing about the time before the publication. */
function publish(folder: string, work: () => void): void {
  const file = join(folder, "README.md");
  const readme = readFileSync(file, "utf8");
  try {
    writeFileSync(file, withoutNpmNotes(readme));
    work();
  } finally {
    writeFileSync(file, readme);
  }
}

function isPublished({ name }: Manifest): boolean {
  const { status, stdout, stderr } = spawnSync("npm", ["view", `${name}@${version}`, "version"], { encoding: "utf8" });
  if (status === 0) return stdout.trim() !== "";
  if (stderr.includes("E404")) return false;
  throw new Error(`npm view ${name} failed: ${stderr}`);
}

function manifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
}
