import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

/** The part of `package-lock.json` that is read here. */
interface Lock {
  readonly packages: Readonly<Record<string, { readonly version?: string; readonly license?: string }>>;
}

const root = resolve(import.meta.dirname, "..");

/** The license texts of packages, by their names, each text once, after the packages that it is for. */
export function thirdPartyLicenses(packages: readonly string[]): string {
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as Lock;
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

/** Scalar's packages share one license; the one with the bundle does not carry its text. */
export function scalarLicense(): string {
  return readFileSync(join(root, "node_modules/@scalar/types/LICENSE"), "utf8");
}

/** The package that an installed file belongs to; `undefined` for a file that is not installed. */
export function packageOf(file: string): string | undefined {
  return /^.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1];
}

function licenseText(folder: string): string | undefined {
  if (!existsSync(folder)) return undefined;
  if (dirname(folder).endsWith("@scalar") && basename(folder) !== "typebox") return scalarLicense().trim();
  const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
  return file === undefined ? undefined : readFileSync(join(folder, file), "utf8").trim();
}
