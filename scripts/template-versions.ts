import { readFileSync, writeFileSync } from "node:fs";

interface Manifest {
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

const manifest = (file: string): Manifest =>
  JSON.parse(readFileSync(new URL(`../${file}`, import.meta.url), "utf8")) as Manifest;

/**
 * The versions for the templates of create-portico. They are those of the repository, so that an application starts with
 * the versions that Portico was tested with.
 */
export function templateVersions(): Record<string, string> {
  const { version, devDependencies = {} } = manifest("package.json");
  const names = ["minimal", "api"].flatMap((template) => {
    const { dependencies, devDependencies } = manifest(`packages/create-portico/templates/${template}/package.json`);
    return Object.keys({ ...dependencies, ...devDependencies });
  });
  return Object.fromEntries(
    [...new Set(names)].toSorted().map((name) => {
      const found = name === "portico" ? `^${version}` : devDependencies[name];
      if (found === undefined) throw new Error(`a template depends on ${name}, which the repository does not`);
      return [name, found];
    }),
  );
}

if (import.meta.main) {
  const [file = "versions.json"] = process.argv.slice(2);
  writeFileSync(file, `${JSON.stringify(templateVersions(), null, 2)}\n`);
}
