import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";
import { buildIde, cache, QUICK } from "./build-ide.ts";
import { packageOf, scalarLicense, thirdPartyLicenses } from "./third-party-licenses.ts";

const root = resolve(import.meta.dirname, "..");
const bundle = join(root, "node_modules/@scalar/api-reference/dist/browser/standalone.js");

// node scripts/copy-assets.ts [--quick]: puts GraphiQL and Scalar into dist/, each once, as Brotli. The server makes the gzip
// form for the clients that need it.

if (import.meta.main) {
  const quality = process.argv.includes("--quick") ? QUICK : constants.BROTLI_MAX_QUALITY;
  copyScalar(quality);
  await copyExplorer(quality);
}

function copyScalar(quality: number): void {
  const assets = join(root, "dist/openapi/assets");
  const { sources } = JSON.parse(readFileSync(`${bundle}.map`, "utf8")) as { sources: string[] };
  const script = compressed(readFileSync(bundle), quality);
  mkdirSync(assets, { recursive: true });
  writeFileSync(join(assets, "scalar.js.br"), script);
  writeFileSync(join(assets, "LICENSE"), scalarLicense());
  writeFileSync(join(assets, "THIRD-PARTY-LICENSES.txt"), thirdPartyLicenses(packagesIn(sources)));
  console.log(`assets: scalar.js.br, ${Math.round(script.length / 1024)} kB, with its licenses`);
}

async function copyExplorer(quality: number): Promise<void> {
  const assets = join(root, "dist/graphql/ide/assets");
  await buildIde(quality);
  mkdirSync(assets, { recursive: true });
  for (const file of readdirSync(cache)) copyFileSync(join(cache, file), join(assets, file));
  const size = Math.round(readFileSync(join(assets, "explorer.html.br")).length / 1024);
  console.log(`assets: explorer.html.br, ${size} kB, with its licenses`);
}

function compressed(script: Buffer, quality: number): Buffer {
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: quality,
    [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
    [constants.BROTLI_PARAM_SIZE_HINT]: script.length,
  };
  return brotliCompressSync(script, { params });
}

/** The packages whose code is in a bundle, by the sources that its source map names. */
function packagesIn(sources: readonly string[]): readonly string[] {
  // Scalar's own packages stand beside each other in its repository.
  const names = sources.map(
    (source) => packageOf(source) ?? `@scalar/${/^(?:\.\.\/)+([\w-]+)\/dist\//.exec(source)?.[1] ?? "api-reference"}`,
  );
  return [...new Set(names)].toSorted();
}
