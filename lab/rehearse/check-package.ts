import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { reachableDeclarations } from "../../scripts/bundle/reachable-declarations.ts";

/** The part of a package.json that is read here. */
interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly [member: string]: unknown;
}

const MEMBERS = ["description", "homepage", "bugs", "repository", "license", "engines"];

/** What a package may contain besides compiled code. The rest would be there by mistake. */
const OTHER_FILES: Readonly<Record<string, RegExp>> = {
  portico:
    /^(?:CHANGELOG\.md|docs\/guide\/coding-agents\.md|dist\/.*\/assets\/(?:[\w.-]+\.(?:br|json)|LICENSE|THIRD-PARTY-LICENSES\.txt))$/,
  "create-portico": /^(?:versions\.json|templates\/.+)$/,
};

/**
 * Checks an installed package: what its package.json says, and that each file it names, and each package that its code
 * imports, is there. Throws an `AssertionError` that names the fault.
 */
export async function checkPackage(folder: string): Promise<void> {
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
  const { name } = manifest;
  for (const member of MEMBERS) assert.ok(manifest[member], `${name}: package.json has no ${member}`);
  assert.match(JSON.stringify(manifest["repository"]), /"url":"git\+https:/, `${name}: repository has no URL`);
  const readme = join(folder, "README.md");
  assert.ok(existsSync(readme) && readFileSync(readme, "utf8").length > 500, `${name}: has no README`);
  assert.doesNotMatch(readFileSync(readme, "utf8"), /not on npm/, `${name}: its README says that it is not on npm`);

  const targets = [
    ...Object.values(manifest.exports).flatMap((target) =>
      typeof target === "string" ? target : Object.values(target),
    ),
    ...Object.values(manifest.bin ?? {}),
  ];
  for (const target of targets) assert.ok(existsSync(join(folder, target)), `${name}: ${target} does not exist`);
  checkFiles(folder, manifest, targets);
  await checkImports(folder, manifest);
}

function checkFiles(folder: string, { name }: Manifest, targets: readonly string[]): void {
  const declarations = targets.filter((target) => target.endsWith(".d.ts")).map((target) => resolve(folder, target));
  const reachable = reachableDeclarations(declarations);
  const files = globSync("**/*", { cwd: folder, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(resolve(folder).length + 1));
  const isNeeded = (file: string): boolean =>
    /^(?:package\.json|README\.md|LICENSE)$/.test(file) ||
    OTHER_FILES[name]?.test(file) === true ||
    (file.endsWith(".d.ts") ? reachable.has(resolve(folder, file)) : /^dist\/.+\.js$/.test(file));
  const unneeded = files.filter((file) => !file.startsWith("node_modules/") && !isNeeded(file));
  assert.deepEqual(unneeded, [], `${name}: contains files that nothing needs`);
}

/** Each import of the compiled code and of the declarations must be a dependency or a peer: users have no others. */
async function checkImports(folder: string, manifest: Manifest): Promise<void> {
  const { name, dependencies, peerDependencies } = manifest;
  const declared = new Set([name, ...Object.keys({ ...dependencies, ...peerDependencies })]);
  const { metafile } = await build({
    absWorkingDir: resolve(folder),
    entryPoints: globSync("dist/**/*.js", { cwd: folder }),
    outdir: "unwritten",
    bundle: true,
    format: "esm",
    platform: "node",
    packages: "external",
    write: false,
    metafile: true,
    logLevel: "silent",
  }).catch((error: unknown) => {
    throw new assert.AssertionError({ message: `${name}: ${String(error)}` });
  });
  const imported = Object.values(metafile.inputs).flatMap(({ imports }) =>
    imports.filter(({ external }) => external).map(({ path }) => path),
  );
  const inTypes = globSync("dist/**/*.d.ts", { cwd: folder }).flatMap((file) =>
    [...readFileSync(join(folder, file), "utf8").matchAll(/^(?:import|export) .*?from "([^."][^"]*)"/gm)].map(
      ([, path = ""]) => path,
    ),
  );
  const undeclared = [...imported, ...inTypes]
    .map((path) => /^(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? path)
    .filter((found) => !found.startsWith("node:") && !declared.has(found));
  assert.deepEqual([...new Set(undeclared)], [], `${name}: imports packages that it does not depend on`);
}
