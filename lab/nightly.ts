import { spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { parts } from "./nightly/parts.ts";
import { type NightlyOptions, readOptions } from "./nightly/read-options.ts";
import { runNightly } from "./nightly/run-nightly.ts";

// npm run nightly -- [--only fuzz,faults] [--short] [--seed 7] [--list] [--names]
// Runs everything that searches instead of checking, one part after the other, with a new seed. Keeps the result of each part,
// fills in the figures of the documentation, and fails if a part fails. The short form publishes nothing.

let options: NightlyOptions | undefined;
try {
  options = readOptions(process.argv.slice(2), parts);
} catch (error) {
  if (!(error instanceof RangeError)) throw error;
  console.error(error.message);
  process.exitCode = 2;
}
if (options?.shows === "list") list(options);
else if (options?.shows === "names") console.log(JSON.stringify(options.parts.map(({ name }) => name)));
else if (options !== undefined) await run(options);

function list({ parts: chosen }: NightlyOptions): void {
  const width = Math.max(...chosen.map(({ name }) => name.length));
  for (const { name, does, minutes } of chosen)
    console.log(`${name.padEnd(width)}  ${does} (${minutes.long} min, short form ${minutes.short} min)`);
}

async function run({ parts: chosen, form, seed = randomInt(2 ** 31) }: NightlyOptions): Promise<void> {
  const failed = await runNightly({ form, seed, known: parts, chosen });
  const figures = form === "long" ? spawnSync(process.execPath, ["lab/figures.ts"], { stdio: "inherit" }).status : 0;
  if (failed.length > 0 || figures !== 0) process.exitCode = 1;
}
