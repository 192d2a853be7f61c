import { execFileSync } from "node:child_process";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { changelogEntry, readChangeset } from "./release/changelog-entry.ts";

// npm run release:version: raises the version of portico by the changesets, gives it to the packages in packages/, adds an entry
// to CHANGELOG.md, and keeps the build for the tests of later versions.

const files = globSync(".changeset/[a-z]*.md").toSorted();
if (files.length === 0) throw new Error("there are no changesets, so there is no next version");
const changesets = files.map((file) => readChangeset(file, readFileSync(file, "utf8")));
run("npx", "changeset", "version");
const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { readonly version: string };

for (const file of globSync("packages/*/package.json"))
  writeFileSync(file, readFileSync(file, "utf8").replace(/"version": "[^"]+"/, `"version": "${version}"`));
const [title = "", ...entries] = readFileSync("CHANGELOG.md", "utf8").split(/^(?=## )/m);
writeFileSync("CHANGELOG.md", [title, `${changelogEntry(version, changesets)}\n`, ...entries].join(""));

run("npm", "install", "--package-lock-only", "--no-audit", "--no-fund");
run("npm", "run", "build");
run("node", "scripts/keep-release.ts");

function run(command: string, ...args: readonly string[]): void {
  execFileSync(command, args, { stdio: "inherit" });
}
