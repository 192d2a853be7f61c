import { readFileSync } from "node:fs";
import { CannotCreate } from "./cannot-create.ts";
import type { Versions } from "./versions.ts";

type Texts = Readonly<Record<string, string>>;

/** The parts of a `package.json` that are read and written here. */
export interface Manifest {
  readonly name?: string;
  readonly type?: string;
  readonly engines?: Texts;
  readonly scripts?: Texts;
  readonly dependencies?: Texts;
  readonly devDependencies?: Texts;
  readonly [other: string]: unknown;
}

export function readManifest(file: string): Manifest {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Manifest;
  } catch (error) {
    throw new CannotCreate(`${file} is not valid JSON: ${(error as Error).message}`, { cause: error });
  }
}

/** A template lists its dependencies without versions. */
export function withVersions(manifest: Manifest, versions: Versions): Manifest {
  const fill = (names: Texts = {}): Texts =>
    Object.fromEntries(Object.keys(names).map((name) => [name, versions[name] ?? "latest"]));
  return {
    ...manifest,
    dependencies: fill(manifest.dependencies),
    devDependencies: fill(manifest.devDependencies),
  };
}

const NPM_INIT_TEST = 'echo "Error: no test specified" && exit 1';

/** Adds a template to the `package.json` that `npm init` has created. Scripts and versions that are there stay. */
export function mergeManifests(present: Manifest, template: Manifest): Manifest {
  const { test, ...scripts } = present.scripts ?? {};
  return {
    ...template,
    ...present,
    type: "module",
    scripts: { ...template.scripts, ...scripts, ...(test === undefined || test === NPM_INIT_TEST ? {} : { test }) },
    ...withDependencies(present, template.dependencies ?? {}, "dependencies"),
    ...withDependencies(present, template.devDependencies ?? {}, "devDependencies"),
  };
}

/** Adds dependencies that the package does not have yet, in any group. */
export function withDependencies(
  present: Manifest,
  added: Texts,
  group: "dependencies" | "devDependencies" = "dependencies",
): Manifest {
  const known = { ...present.dependencies, ...present.devDependencies };
  const missing = Object.entries(added).filter(([name]) => !(name in known));
  const all = [...Object.entries(present[group] ?? {}), ...missing].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return { [group]: Object.fromEntries(all) };
}

/** The text of the file, with the indentation of the text before. */
export function manifestText(manifest: Manifest, before = ""): string {
  const indent = /^[ \t]+(?=")/m.exec(before)?.[0] ?? "  ";
  return `${JSON.stringify(manifest, null, indent)}\n`;
}
