import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { constants, gzipSync } from "node:zlib";
import { packageOf, scalarLicense, thirdPartyLicenses } from "./third-party-licenses.ts";

const root = resolve(import.meta.dirname, "..");
const bundle = join(root, "node_modules/@scalar/api-reference/dist/browser/standalone.js");
const assets = join(root, "dist/openapi/assets");

if (import.meta.main) {
  const { sources } = JSON.parse(readFileSync(`${bundle}.map`, "utf8")) as { sources: string[] };
  const script = gzipSync(readFileSync(bundle), { level: constants.Z_BEST_COMPRESSION });
  mkdirSync(assets, { recursive: true });
  writeFileSync(join(assets, "scalar.js.gz"), script);
  writeFileSync(join(assets, "LICENSE"), scalarLicense());
  writeFileSync(join(assets, "THIRD-PARTY-LICENSES.txt"), thirdPartyLicenses(packagesIn(sources)));
  console.log(`assets: scalar.js.gz, ${Math.round(script.length / 1024)} kB, with its licenses`);
}

/** The packages whose code is in a bundle, by the sources that its source map names. */
function packagesIn(sources: readonly string[]): readonly string[] {
  // Scalar's own packages stand beside each other in its repository.
  const names = sources.map(
    (source) => packageOf(source) ?? `@scalar/${/^(?:\.\.\/)+([\w-]+)\/dist\//.exec(source)?.[1] ?? "api-reference"}`,
  );
  return [...new Set(names)].toSorted();
}
