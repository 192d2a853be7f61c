import { glob, readFile, rm } from "node:fs/promises";
import { join, relative, resolve, sep } from "node:path";
import { build } from "esbuild";
import { joinedImports } from "./bundle/joined-imports.ts";
import { reachableDeclarations } from "./bundle/reachable-declarations.ts";

// node scripts/bundle.ts [dist]
// Joins the modules that the compiler has written to a few files: Node takes longer to find and link 150 modules than to
// run them. Each entry point stays where it is, and code that several of them use moves to shared files in chunks/.
// Declarations that no entry point needs are removed.

const root = resolve(import.meta.dirname, "..");

if (import.meta.main) {
  const [dist = join(root, "dist")] = process.argv.slice(2);
  const { before, after } = await bundle(dist);
  console.log(`bundle: ${before} modules in ${after} files`);
}

/** Bundles the output of the compiler in place. */
export async function bundle(dist: string): Promise<{ readonly before: number; readonly after: number }> {
  const { imported, commands } = await entryFiles();
  const inDist = (files: readonly string[]): readonly string[] =>
    files.map((file) => join(dist, relative("dist", file)));
  const entryPoints = [...inDist(imported), ...inDist(commands)];
  const { metafile } = await build({
    absWorkingDir: dist,
    entryPoints,
    outdir: dist,
    outbase: dist,
    allowOverwrite: true,
    bundle: true,
    splitting: true,
    chunkNames: "chunks/[name]-[hash]",
    format: "esm",
    platform: "node",
    target: "node22",
    packages: "external",
    plugins: [await joinedImports(dist)],
    // The names of classes appear in messages.
    keepNames: true,
    metafile: true,
    logLevel: "warning",
  });
  const compiled = await Array.fromAsync(glob("**/*.js", { cwd: dist }));
  const joined = compiled.filter((file) => !Object.hasOwn(metafile.outputs, file.replaceAll(sep, "/")));
  for (const file of joined) await rm(join(dist, file), { force: true });
  await removeUnusedDeclarations(dist, inDist(imported));
  return { before: Object.keys(metafile.inputs).length, after: compiled.length - joined.length };
}

async function removeUnusedDeclarations(dist: string, entryPoints: readonly string[]): Promise<void> {
  const used = reachableDeclarations(entryPoints.map((file) => file.replace(/\.js$/, ".d.ts")));
  for await (const file of glob("**/*.d.ts", { cwd: dist }))
    if (!used.has(join(dist, file))) await rm(join(dist, file));
}

/** The files that package.json names: those of the entry points, which have types, and of the command. */
async function entryFiles(): Promise<Readonly<Record<"imported" | "commands", readonly string[]>>> {
  const { exports, bin } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as Manifest;
  const imported = Object.values(exports).flatMap((target) => (typeof target === "string" ? [] : [target.default]));
  return { imported, commands: Object.values(bin) };
}

interface Manifest {
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
  readonly bin: Readonly<Record<string, string>>;
}
