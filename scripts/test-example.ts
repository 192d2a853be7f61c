import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

// Does what somebody does who copies the example: installs the package as it would be published, checks the types, and
// runs the tests, which need PostgreSQL, Redis and Chromium.
const root = join(import.meta.dirname, "..");
const folder = join(root, ".cache", "installed", "example");
const run = (cwd: string, ...[command, ...args]: [string, ...string[]]): void =>
  void execFileSync(command, args, { cwd, stdio: "inherit" });

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
run(root, "npm", "run", "--silent", "build");
const packed = execFileSync("npm", ["pack", "--silent", "--pack-destination", folder], { cwd: root, encoding: "utf8" });
cpSync(join(root, "examples", "bookshop"), folder, {
  recursive: true,
  filter: (source) => !/\/(?:node_modules|\.cache)$/.test(source.slice(root.length)),
});

const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { dependencies: object };
const dependencies = { ...manifest.dependencies, portico: `file:${packed.trim()}` };
writeFileSync(join(folder, "package.json"), JSON.stringify({ ...manifest, dependencies }, null, 2));
run(folder, "npm", "install", "--no-package-lock", "--no-audit", "--no-fund");
run(folder, "npm", "run", "check");
run(folder, "npm", "test");
