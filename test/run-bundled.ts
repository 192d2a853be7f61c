import { execFile } from "node:child_process";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";

const root = resolve(import.meta.dirname, "..");
const source = (file: string): string => join(root, "src", file);

/** Bundles an application with Portico into one file, runs it where no other file of Portico is, and reads the JSON that it prints. */
export async function runBundled(app: string): Promise<unknown> {
  const folder = await mkdtemp(join(tmpdir(), "portico-one-file-"));
  try {
    await symlink(join(root, "node_modules"), join(folder, "node_modules"));
    const outfile = join(folder, "app.mjs");
    await build({
      stdin: { contents: app, resolveDir: root },
      outfile,
      bundle: true,
      platform: "node",
      format: "esm",
      packages: "external",
      alias: {
        portico: source("index.ts"),
        "portico/auth": source("auth/index.ts"),
        "portico/graphql": source("graphql/index.ts"),
      },
    });
    const { stdout } = await promisify(execFile)(process.execPath, [outfile]);
    return JSON.parse(stdout);
  } finally {
    await rm(folder, { recursive: true });
  }
}
