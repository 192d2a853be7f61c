import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { checkTracker } from "../../../lab/guard/check-tracker.ts";
import { propertySeed, runs } from "../../../lab/seeds/property-seed.ts";
import { root } from "../../../scripts/package/repository.ts";

const run = promisify(execFile);

describe("a tracker whose handlers check nothing", () => {
  it("keeps its tenants apart by policies alone, without the conditions of the guard", async () => {
    const args = ["lab/guard.ts", "--mode", "policies", "--operations", String(runs(400))];

    const { stdout } = await run(process.execPath, args, { cwd: root });

    expect(stdout).toContain(`guard: ${runs(400)} operations, mode policies, 0 faults`);
    expect(stdout).toMatch(/^ {2}lists, with data: \d+$/m);
  });

  it("mixes them with neither", async () => {
    const args = ["lab/guard.ts", "--mode", "unprotected", "--operations", "200"];

    await expect(run(process.execPath, args, { cwd: root })).rejects.toMatchObject({
      code: 1,
      stdout: expect.stringContaining("PostgreSQL: FAULT"),
    });
  });

  it("keeps them apart with both", async () => {
    const options = { operations: runs(400), seed: propertySeed(), hasPolicies: true };

    const { faults, counts } = await checkTracker("PostgreSQL", options);

    expect(faults).toEqual([]);
    expect(Object.keys(counts).filter((what) => what.endsWith("refused with 403")).length).toBeGreaterThan(3);
  });
});
