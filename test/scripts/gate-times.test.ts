import { expect, it } from "vitest";
import { filesTable, stepsTable } from "../../scripts/gate/times-tables.ts";

it("sums up the steps of the gate, and apart from them what installs and the seconds beside the tests", () => {
  const table = stepsTable([
    { name: "npm ci", seconds: 30, cpuSeconds: 40, isInstallation: true },
    { name: "check", seconds: 80.4, cpuSeconds: 150, isInstallation: false },
    { name: "tests", seconds: 1_000, cpuSeconds: 1_800, isInstallation: false },
    { name: "pages", seconds: 50, cpuSeconds: 40, isInstallation: false, isBeside: true },
  ]);

  expect(table.split("\n").slice(2)).toEqual([
    "| check | 80 | 150 |",
    "| tests | 1,000 | 1,800 |",
    "| pages, beside the tests | 50 | 40 |",
    "| **The gate** | 1,080 | 1,990 |",
    "| Installing, in addition | 30 | 40 |",
  ]);
});

it("lists the files with the most CPU time, including that of the processes they start", () => {
  const file = { tests: 1, wallMs: 9_000, hashes: 0, hashingMs: 0 };
  const table = filesTable(
    [
      { ...file, file: "test/a.test.ts", cpuMs: 3_000, loadingMs: 1_000, childrenMs: 0, processes: 0 },
      { ...file, file: "test/b.servers.test.ts", cpuMs: 1_000, loadingMs: 500, childrenMs: 4_000, processes: 2 },
      { ...file, file: "test/c.test.ts", cpuMs: 500, loadingMs: 0, childrenMs: 0, processes: 0 },
    ],
    2,
  );

  expect(table.split("\n").slice(2)).toEqual([
    "| `test/b.servers.test.ts` | 9.0 | 5.0 | 0.5 | 4.0 (2) | 0.0 | 0.5 | 8.0 |",
    "| `test/a.test.ts` | 9.0 | 3.0 | 1.0 | 0 | 0.0 | 2.0 | 6.0 |",
    "| All 3 files | 27.0 | 8.5 | 1.5 | 4.0 (2) | 0.0 | 3.0 | 22.5 |",
  ]);
});
