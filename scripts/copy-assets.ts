import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { constants, gzipSync } from "node:zlib";

/** The part of `package-lock.json` that is read here. */
interface Lock {
  readonly packages: Readonly<Record<string, { readonly version?: string; readonly license?: string }>>;
}

const root = resolve(import.meta.dirname, "..");
const bundle = join(root, "node_modules/@scalar/api-reference/dist/browser/standalone.js");
const assets = join(root, "dist/openapi/assets");

if (import.meta.main) {
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as Lock;
  const { sources } = JSON.parse(readFileSync(`${bundle}.map`, "utf8")) as { sources: string[] };
  const script = gzipSync(readFileSync(bundle), { level: constants.Z_BEST_COMPRESSION });
  mkdirSync(assets, { recursive: true });
  writeFileSync(join(assets, "scalar.js.gz"), script);
  writeFileSync(join(assets, "LICENSE"), scalarLicense());
  writeFileSync(join(assets, "THIRD-PARTY-LICENSES.txt"), licenses(packagesIn(sources), lock));
  console.log(`assets: scalar.js.gz, ${Math.round(script.length / 1024)} kB, with its licenses`);
}

/** Scalar's packages share one license; the one with the bundle does not carry its text. */
function scalarLicense(): string {
  return readFileSync(join(root, "node_modules/@scalar/types/LICENSE"), "utf8");
}

/** The packages whose code is in a bundle, by the sources that its source map names. */
function packagesIn(sources: readonly string[]): readonly string[] {
  const names = sources.map((source) => {
    const installed = /^.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1];
    // Scalar's own packages stand beside each other in its repository.
    return installed ?? `@scalar/${/^(?:\.\.\/)+([\w-]+)\/dist\//.exec(source)?.[1] ?? "api-reference"}`;
  });
  return [...new Set(names)].toSorted();
}

/** The license texts of packages, each text once, after the packages that it is for. */
function licenses(packages: readonly string[], lock: Lock): string {
  const byText = new Map<string, string[]>();
  for (const name of packages) {
    const place = Object.keys(lock.packages).find((path) => path.endsWith(`node_modules/${name}`));
    const { version = "", license = "see its repository" } =
      (place === undefined ? undefined : lock.packages[place]) ?? {};
    const text = licenseText(join(root, place ?? "no such folder")) ?? `License: ${license}`;
    byText.set(text, [...(byText.get(text) ?? []), `${name} ${version}`.trim()]);
  }
  return [...byText].map(([text, names]) => `${names.join("\n")}\n\n${text}\n`).join(`\n${"-".repeat(80)}\n\n`);
}

function licenseText(folder: string): string | undefined {
  if (!existsSync(folder)) return undefined;
  if (dirname(folder).endsWith("@scalar") && basename(folder) !== "typebox") return scalarLicense().trim();
  const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
  return file === undefined ? undefined : readFileSync(join(folder, file), "utf8").trim();
}
