import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Environment, run } from "../newcomer/shell.ts";

/** The two ways in which current compilers find types: as Node does, and as bundlers do. */
const RESOLUTIONS = {
  node16: { module: "node16", moduleResolution: "node16" },
  bundler: { module: "esnext", moduleResolution: "bundler" },
};

/** Compiles a file that imports every entry point, with the compiler that the folder has installed. */
export async function checkTypes(folder: string, env: Environment, entryPoints: readonly string[]): Promise<void> {
  const lines = entryPoints.map((name, index) => `export * as entry${index} from "${name}";\n`);
  for (const [resolution, options] of Object.entries(RESOLUTIONS)) {
    const place = join(folder, resolution);
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, "app.ts"), lines.join(""));
    const compilerOptions = { ...options, target: "es2024", types: ["node"], strict: true, noEmit: true };
    writeFileSync(join(place, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["app.ts"] }));
    // A fault inside a library belongs to its authors.
    const output = await run(folder, env, "npx", "tsc", "-p", resolution).then(
      () => "",
      (error: unknown) => String(error),
    );
    const faults = output.match(/^(?:\w+\/app\.ts|node_modules\/portico(?:-client)?\/|error ).*/gm) ?? [];
    assert.deepEqual(faults, [], `types for ${resolution}`);
  }
}
