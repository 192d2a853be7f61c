import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

// node scripts/keep-release.ts: packs what was built into test/system/releases, where tests run it beside later versions.

/** Files that a running server does not load. The package has 5.7 MB with them, and 0.5 MB without. */
const LEFT_OUT = ["*.d.ts", "explorer.html.*", "scalar.js.br", "THIRD-PARTY-LICENSES.txt"];

const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { readonly version: string };
const kept = `test/system/releases/portico-${version}.tgz`;
const scratch = mkdtempSync(join(tmpdir(), "portico-release-"));
try {
  execFileSync("npm", ["pack", "--silent", "--pack-destination", scratch]);
  execFileSync("tar", ["-xzf", join(scratch, `portico-${version}.tgz`), "-C", scratch]);
  execFileSync("tar", [...LEFT_OUT.map((file) => `--exclude=${file}`), "-czf", kept, "-C", scratch, "package"]);
} finally {
  rmSync(scratch, { recursive: true });
}
console.log(`release: ${kept}, ${Math.round(statSync(kept).size / 1024)} kB`);
