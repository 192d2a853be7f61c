import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

// Does what a user who copies the example does: installs the package as it would be published, checks the types, and
// runs the tests, which need PostgreSQL, Redis and Chromium.
const root = join(import.meta.dirname, "..");
const folder = join(root, ".cache", "installed", "example");
const run = (cwd: string, ...[command, ...args]: [string, ...string[]]): void =>
  void execFileSync(command, args, { cwd, stdio: "inherit" });

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
run(root, "npm", "run", "--silent", "build");
const pack = (cwd: string): string =>
  `file:${execFileSync("npm", ["pack", "--silent", "--pack-destination", folder], { cwd, encoding: "utf8" }).trim()}`;
const [portico, client] = [pack(root), pack(join(root, "packages/portico-client"))];
cpSync(join(root, "examples", "bookshop"), folder, {
  recursive: true,
  filter: (source) => !/\/(?:node_modules|\.cache)$/.test(source.slice(root.length)),
});

const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
  readonly dependencies: object;
  readonly devDependencies: object;
};
const dependencies = { ...manifest.dependencies, portico };
const devDependencies = { ...manifest.devDependencies, "portico-client": client };
writeFileSync(join(folder, "package.json"), JSON.stringify({ ...manifest, dependencies, devDependencies }, null, 2));
run(folder, "npm", "install", "--no-package-lock", "--no-audit", "--no-fund");
run(folder, "npm", "run", "check");
run(folder, "npm", "test");
