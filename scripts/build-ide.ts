import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";
import { bundleExplorer } from "./ide/bundle-explorer.ts";
import { thirdPartyLicenses } from "./third-party-licenses.ts";

/** What lies beside the compressed page: what the server needs to know of it, and what it was made of. */
interface About {
  readonly scriptHash: string;
  readonly sources: string;
  /** The version of each package in it. */
  readonly packages: Readonly<Record<string, string>>;
  readonly quality: number;
}

const root = resolve(import.meta.dirname, "..");
/** The folder of the explorer that was built last. */
export const cache: string = join(root, ".cache/ide");
/** The best compression takes half a minute. Only a release needs it: tests and `npm run check` build with --quick. */
export const QUICK = 5;

/**
 * Makes the explorer of the IDE, compressed, in `.cache/ide`; only when what it is made of has changed. Tests, and servers
 * that run from this repository, read it there.
 */
export async function buildIde(quality: number = QUICK): Promise<void> {
  if (isFresh(quality)) return;
  const { html, scriptHash, packages } = await bundleExplorer();
  const bytes = Buffer.from(html);
  const about: About = {
    scriptHash,
    sources: sourcesHash(),
    packages: Object.fromEntries([...packages, "vite"].map((name) => [name, installedVersion(name)])),
    quality,
  };
  write({
    "explorer.html.br": brotli(bytes, quality),
    "explorer.json": `${JSON.stringify(about, null, 2)}\n`,
    "THIRD-PARTY-LICENSES.txt": thirdPartyLicenses(packages),
  });
}

function isFresh(quality: number): boolean {
  const file = join(cache, "explorer.json");
  if (!existsSync(file)) return false;
  const about = JSON.parse(readFileSync(file, "utf8")) as About;
  return (
    about.quality >= quality &&
    about.sources === sourcesHash() &&
    Object.entries(about.packages).every(([name, version]) => installedVersion(name) === version)
  );
}

/** It is not ended: the server adds the options of its endpoint, and the end. */
function brotli(bytes: Buffer, quality: number): Buffer {
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: quality,
    [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  };
  return brotliCompressSync(bytes, { params, finishFlush: constants.BROTLI_OPERATION_FLUSH });
}

/** Writes either every file or none: another process may be reading. */
function write(files: Readonly<Record<string, string | Buffer>>): void {
  const fresh = `${cache}.${process.pid}`;
  mkdirSync(fresh, { recursive: true });
  for (const [name, content] of Object.entries(files)) writeFileSync(join(fresh, name), content);
  rmSync(cache, { recursive: true, force: true });
  renameSync(fresh, cache);
}

/** Of what we wrote ourselves. */
function sourcesHash(): string {
  const hash = createHash("sha256");
  const files = readdirSync(join(root, "scripts/ide")).toSorted();
  for (const file of files) hash.update(file).update(readFileSync(join(root, "scripts/ide", file)));
  return hash.digest("hex");
}

function installedVersion(name: string): string {
  const manifest = join(root, "node_modules", name, "package.json");
  return existsSync(manifest) ? (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version : "nested";
}
