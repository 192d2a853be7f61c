import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { FILES_PATH, type FileTimes, STEPS_PATH, type StepTimes } from "./gate/file-times.ts";
import { filesTable, stepsTable } from "./gate/times-tables.ts";

// npm run gate:times: what the last complete run spent its time on, by step and by test file.
// With --write, the tables in CONTRIBUTING.md are replaced.
const MAX_FILES = 50;
const PAGE = "CONTRIBUTING.md";

if (!existsSync(FILES_PATH)) throw new Error(`there are no times at ${FILES_PATH}: run "npm test" or ".ci/run" first`);
const files = JSON.parse(readFileSync(FILES_PATH, "utf8")) as FileTimes[];
const steps = existsSync(STEPS_PATH)
  ? readFileSync(STEPS_PATH, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as StepTimes)
  : [];
const tables = {
  "gate steps": steps.length > 0 ? stepsTable(steps) : undefined,
  "gate files": filesTable(files, MAX_FILES),
};
for (const table of Object.values(tables)) if (table !== undefined) console.log(`${table}\n`);
if (steps.length === 0) console.log(`The steps are unknown: there is no ${STEPS_PATH}, which .ci/run writes.`);

if (process.argv.includes("--write")) {
  let page = readFileSync(PAGE, "utf8");
  for (const [name, table] of Object.entries(tables)) {
    if (table === undefined)
      throw new Error(`--write needs the times of a complete .ci/run: there is no ${STEPS_PATH}`);
    const block = new RegExp(`(<!-- ${name} -->\n)[^]*?(\n<!-- end of ${name} -->)`);
    if (!block.test(page)) throw new Error(`${PAGE} has no block <!-- ${name} -->`);
    page = page.replace(block, (_, start: string, end: string) => `${start}\n${table}\n${end}`);
  }
  writeFileSync(PAGE, page);
}
