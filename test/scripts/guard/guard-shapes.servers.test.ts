import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { root } from "../../../scripts/package/repository.ts";

const run = promisify(execFile);

it.each(["the condition of a left join in WHERE", "an upsert without a condition", "no check after an insert"])(
  "the generator of reads and writes finds a fault in the guard: %s",
  async (fault) => {
    const args = ["lab/guard-shapes.ts", "--fault", fault, "--only", "SQLite", "--count", "6000"];

    const { stdout } = await run(process.execPath, args, { cwd: root });

    expect(stdout).toContain("1 of 1 databases differ");
  },
);
