import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { expect, it, onTestFinished } from "vitest";

const root = pathToFileURL(join(import.meta.dirname, "../../")).href;

it("a process writes the modules in which a function runs, and not those that it only loads", async () => {
  const folder = mkdtempSync(join(tmpdir(), "recorded-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const NODE_OPTIONS = `--import=${root}scripts/affected/process-files.ts`;
  const program = `(await import("${root}src/core/size.ts")).parseSize("2kb");`;

  await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program], {
    env: { ...process.env, NODE_OPTIONS, PORTICO_RECORD_PROCESSES: folder },
  });

  const [file = ""] = readdirSync(folder);
  const ran = readFileSync(join(folder, file), "utf8").split("\n");
  expect(ran).toContain(`${root}src/core/size.ts`);
  expect(ran).not.toContain(`${root}src/core/configuration-error.ts`);
});
