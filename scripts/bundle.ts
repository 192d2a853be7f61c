import { glob, readFile, rm } from "node:fs/promises";
import { join, relative, resolve, sep } from "node:path";
import { build } from "esbuild";
import { joinedImports } from "./bundle/joined-imports.ts";

// node scripts/bundle.ts [dist]
// Joins the modules that the compiler has written to a few files: Node takes longer to find and link 150 modules than to
// run them. Each entry point stays where it is, and code that several of them use moves to shared files in chunks/.

const root = resolve(import.meta.dirname, "..");

if (import.meta.main) {
  const [dist = join(root, "dist")] = process.argv.slice(2);
  const { before, after } = await bundle(dist);
  console.log(`bundle: ${before} modules in ${after} files`);
}

/** Bundles the output of the compiler in place. */
export async function bundle(dist: string): Promise<{ readonly before: number; readonly after: number }> {
  const entryPoints = (await entryFiles()).map((file) => join(dist, relative("dist", file)));
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
    sourcemap: true,
    metafile: true,
    logLevel: "warning",
  });
  const compiled = await Array.fromAsync(glob("**/*.js", { cwd: dist }));
  const joined = compiled.filter((file) => !Object.hasOwn(metafile.outputs, file.replaceAll(sep, "/")));
  for (const file of joined) for (const name of [file, `${file}.map`]) await rm(join(dist, name), { force: true });
  return { before: Object.keys(metafile.inputs).length, after: compiled.length - joined.length };
}

/** The files that package.json names: those of the entry points and of the command. */
async function entryFiles(): Promise<readonly string[]> {
  const { exports, bin } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as Manifest;
  const doors = Object.values(exports).flatMap((target) => (typeof target === "string" ? [] : [target.default]));
  return [...doors, ...Object.values(bin)];
}

interface Manifest {
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
  readonly bin: Readonly<Record<string, string>>;
}
