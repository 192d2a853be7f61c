import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The part of a CycloneDX document that is read here. */
interface Sbom {
  readonly components: readonly { readonly name: string; readonly version: string }[];
}

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
}

const [target] = process.argv.slice(2);
if (target === undefined) throw new Error("usage: npm run sbom -- <file>");

// `npm sbom --omit dev` also leaves out a runtime dependency that a development tool depends on, such as ws.
// An installation without development dependencies has only what users get.
const folder = mkdtempSync(join(tmpdir(), "sbom-"));
try {
  for (const file of ["package.json", "package-lock.json", ".npmrc"]) copyFileSync(file, join(folder, file));
  npm("ci", "--omit=dev", "--ignore-scripts");
  npm("pkg", "delete", "devDependencies");
  const text = npm("sbom", "--sbom-format", "cyclonedx", "--sbom-type", "library");

  const names = (JSON.parse(text) as Sbom).components.map(({ name }) => name);
  const { dependencies } = JSON.parse(readFileSync("package.json", "utf8")) as Manifest;
  const missing = Object.keys(dependencies).filter((name) => !names.includes(name));
  if (missing.length > 0) throw new Error(`the SBOM has no entry for ${missing.join(", ")}`);
  writeFileSync(target, text);
  console.log(`${target}: ${names.length} components`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function npm(...parameters: readonly string[]): string {
  return execFileSync("npm", parameters, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
}
