import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { measureModules } from "./rehearse/measure.ts";

// npm run same-api: installs the three versions of the API in docs/comparison.md without development dependencies, and prints the
// number and the size of their packages. Needs a registry.

const root = join(import.meta.dirname, "..");
const place = mkdtempSync(join(tmpdir(), "same-api-"));
const run = (cwd: string, command: string, ...args: readonly string[]): string =>
  execFileSync(command, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }).trim();

try {
  run(root, "npm", "run", "--silent", "build");
  const packed = run(root, "npm", "pack", "--silent", "--pack-destination", place);
  const dependencies = { portico: `file:${join(place, packed)}`, graphql: "^17.1.0", kysely: "^0.29.0" };
  report("Portico", "install", (folder) =>
    writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, dependencies })),
  );
  for (const version of ["nestjs", "yoga"])
    report(version, "ci", (folder) => {
      for (const file of ["package.json", "package-lock.json"])
        cpSync(join(root, "examples/same-api", version, file), join(folder, file));
    });
} finally {
  rmSync(place, { recursive: true, force: true });
}

function report(name: string, command: "install" | "ci", write: (folder: string) => void): void {
  const folder = join(place, name);
  mkdirSync(folder);
  write(folder);
  run(folder, "npm", command, "--omit=dev", "--no-audit", "--no-fund");
  const { packages, megabytes } = measureModules(folder);
  console.log(`${name.padEnd(8)} ${packages} packages, ${megabytes.toFixed(0)} MB`);
}
