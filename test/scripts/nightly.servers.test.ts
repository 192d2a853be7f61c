import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { nightlyTable } from "../../lab/figures/nightly-table.ts";
import { addFailingSeeds, failingSeeds, readFailingSeeds } from "../../lab/nightly/failing-seeds.ts";
import type { Part } from "../../lab/nightly/part.ts";
import { parts } from "../../lab/nightly/parts.ts";
import { readOptions } from "../../lab/nightly/read-options.ts";
import { replay } from "../../lab/nightly/replay.ts";
import { runNightly } from "../../lab/nightly/run-nightly.ts";
import { seededFiles } from "../../lab/nightly/seeded-files.ts";
import { root as repository } from "../../scripts/package/repository.ts";

function part(name: string, script: string, other: Partial<Part> = {}): Part {
  const commands: Part["commands"] = (form, seed) => [{ run: ["node", "-e", script, form, String(seed)] }];
  return { name, does: `Does ${name}`, minutes: { long: 1, short: 1 }, commands, ...other };
}

const good = part(
  "good",
  "console.log('begins'); console.log('good: 12 found,', ...process.argv.slice(1)); console.log()",
);
const bad = part("bad", "console.log('bad: 3 failures'); process.exitCode = 1");

function folder(): string {
  const place = mkdtempSync(join(tmpdir(), "nightly-"));
  onTestFinished(() => rmSync(place, { recursive: true, force: true }));
  return place;
}

interface Run {
  readonly failed: readonly string[];
  readonly printed: string;
}

async function run(root: string, chosen: readonly Part[], { day = "2026-11-18", form = "long" } = {}): Promise<Run> {
  const lines: string[] = [];
  const print = (text: string): void => void lines.push(text);
  const given = { form: form as "long" | "short", seed: 7, known: [good, bad], chosen, root, day: () => day, print };
  return { failed: await runNightly(given), printed: lines.join("\n") };
}

const read = (root: string, file: string): unknown => JSON.parse(readFileSync(join(root, file), "utf8"));

describe("the nightly run", () => {
  it("fails with the name of a part that fails, and runs the others", async () => {
    const { failed, printed } = await run(folder(), [bad, good]);

    expect(failed).toEqual(["bad"]);
    expect(printed).toContain("=== bad: failed in ");
    expect(printed).toContain("=== good: passed in ");
    expect(printed).toMatch(/nightly: 1 passed, 1 failed, bad; seed 7$/);
  });

  it("keeps the result of a part with its date and its last line, locally and to be committed", async () => {
    const root = folder();

    await run(root, [good, bad]);

    const expected = { day: "2026-11-18", node: process.version, seconds: expect.any(Number) };
    const first = { ...expected, outcome: "passed", figure: "good: 12 found, long 7" };
    expect(read(root, ".cache/nightly/good.json")).toEqual(first);
    expect(read(root, "lab/bench/results/nightly.json")).toEqual({
      bad: { ...expected, outcome: "failed", figure: "bad: 3 failures" },
      good: first,
    });
    expect(readFileSync(join(root, ".cache/nightly/good.log"), "utf8")).toContain("begins\n");
  });

  it("shows the last result of a part that did not run, or that it has never run", async () => {
    const root = folder();

    const first = await run(root, [good], { day: "2026-11-17" });
    const second = await run(root, [bad]);

    expect(first.printed).toMatch(/^good \* +passed +\d+ s +2026-11-17 +good: 12 found, long 7$/m);
    expect(first.printed).toMatch(/^bad +never$/m);
    expect(second.printed).toMatch(/^good +passed +\d+ s +2026-11-17 +good: 12 found, long 7$/m);
    expect(second.printed).toMatch(/^bad \* +failed +\d+ s +2026-11-18 +bad: 3 failures$/m);
  });

  it("does not replace the results of the long form by those of the short form", async () => {
    const root = folder();
    await run(root, [good], { day: "2026-11-17" });
    const before = ["lab/bench/results/nightly.json", ".cache/nightly/good.json"].map((file) => read(root, file));

    const { printed } = await run(root, [good], { form: "short" });

    expect(["lab/bench/results/nightly.json", ".cache/nightly/good.json"].map((file) => read(root, file))).toEqual(
      before,
    );
    expect(read(root, ".cache/nightly/short/good.json")).toMatchObject({ figure: "good: 12 found, short 7" });
    expect(printed).toMatch(/^good \* +passed +\d+ s +2026-11-18 +good: 12 found, short 7$/m);
  });

  it("publishes the figures of a long run, even of one that failed", async () => {
    const root = folder();
    const file = join(root, "figures.json");
    const published: unknown[] = [];
    const script = `require("node:fs").writeFileSync(${JSON.stringify(file)}, "{}"); process.exitCode = 1`;
    const writes = part("writes", script, {
      written: { file, publish: (figures, day) => void published.push([figures, day]) },
    });

    await run(root, [writes], { form: "short" });
    expect(published).toEqual([]);
    await run(root, [writes]);
    expect(published).toEqual([[{}, "2026-11-18"]]);
  });

  it("starts no further command after one that failed, or that cannot be started", async () => {
    const commands =
      (first: readonly string[]): Part["commands"] =>
      () => [{ run: first }, { run: ["node", "-e", "console.log('second')"] }];
    const stops = part("stops", "", {
      commands: commands(["node", "-e", "console.log('first'); process.exitCode = 1"]),
    });
    const missing = part("missing", "", { commands: commands(["no-such-program"]) });
    const root = folder();

    await run(root, [stops, missing]);

    expect(read(root, "lab/bench/results/nightly.json")).toMatchObject({
      stops: { outcome: "failed", figure: "first" },
      missing: { outcome: "failed", figure: "spawn no-such-program ENOENT" },
    });
  });
});

describe("the options", () => {
  it("choose all parts, or some of them in their usual order", () => {
    const chosen = (...args: readonly string[]): readonly string[] =>
      readOptions(args, [good, bad]).parts.map(({ name }) => name);

    expect(chosen()).toEqual(["good", "bad"]);
    expect(chosen("--only", "")).toEqual(["good", "bad"]);
    expect(chosen("--only", "bad")).toEqual(["bad"]);
    expect(chosen("--only", "bad", "--only=good")).toEqual(["good", "bad"]);
    expect(chosen("--only", "bad,good")).toEqual(["good", "bad"]);
  });

  it.each([
    [["--only", "good,ugly"], "ugly is not a part of the nightly run: use good, bad"],
    [["--fast"], "--fast is not an option of the nightly run: use --only, --short, --list, --names, --seed"],
    [["good"], "good is not an option of the nightly run: use --only, --short, --list, --names, --seed"],
    [["--only"], "--only needs a value"],
    [["--short=yes"], "--short takes no value, but yes is given"],
    [["--seed", "x"], "a seed is a whole number from 0 to 2147483647, not x"],
  ])("refuse %j", (args, message) => {
    expect(() => readOptions(args, [good, bad])).toThrow(new RangeError(message));
  });
});

describe("the parts", () => {
  it("have different names, and commands in both forms", () => {
    expect(new Set(parts.map(({ name }) => name)).size).toBe(parts.length);
    for (const known of parts)
      for (const form of ["long", "short"] as const)
        expect(
          known.commands(form, 7).flatMap(({ run }) => run[0]),
          known.name,
        ).toContain("node");
  });

  it("take at most 80 minutes each, and in the short form at most 29 together", () => {
    expect(parts.filter(({ minutes }) => minutes.long > 80)).toEqual([]);
    expect(parts.reduce((sum, { minutes }) => sum + minutes.short, 0)).toBeLessThanOrEqual(32);
  });

  it("are in the table of the documentation, with the day of the last run or without any", () => {
    const result = { day: "2026-11-18", node: "v24.0.0", seconds: 2_700, figure: "fuzz: a | `b`" };

    const table = nightlyTable({ fuzz: { ...result, outcome: "passed" }, faults: { ...result, outcome: "failed" } });

    expect(table).toContain(
      "| `fuzz` | A million hostile inputs to the bookshop | passed | `fuzz: a / 'b'` | 45 min | 2026-11-18 |",
    );
    expect(table).toMatch(/^\| `faults` \| .+ \| \*\*failed\*\* \| /m);
    expect(table).toMatch(/^\| `rolling` \| .+ \| never run \| \| \| \|$/m);
    for (const { name } of parts) expect(table).toContain(`| \`${name}\` |`);
  });
});

describe("a failing seed", () => {
  const report = {
    testResults: [
      {
        name: "/place/test/a.test.ts",
        assertionResults: [
          { ancestorTitles: ["a", "b"], title: "works", status: "passed", failureMessages: [] },
          {
            ancestorTitles: ["a", "b"],
            title: "holds",
            status: "failed",
            failureMessages: ["Error: PORTICO_SEED=12\nat a"],
          },
          { ancestorTitles: ["a", "b"], title: "lasts", status: "failed", failureMessages: ["Error: timed out"] },
        ],
      },
    ],
  };

  it("is the one that the message names, otherwise that of the run, and is kept once", () => {
    const list = pathToFileURL(join(folder(), "seeds.json"));
    writeFileSync(list, "[]\n");

    const found = failingSeeds(report, 7, "2026-11-18", "/place");
    addFailingSeeds(found, list);

    expect(addFailingSeeds(found, list)).toEqual([]);
    expect(readFailingSeeds(list)).toEqual([
      { file: "test/a.test.ts", test: "a > b > holds", seed: 12, day: "2026-11-18" },
      { file: "test/a.test.ts", test: "a > b > lasts", seed: 7, day: "2026-11-18" },
    ]);
  });

  it("is repeated by the test of that name only", async () => {
    const file = "test/auth/api-keys/key-format.test.ts";

    expect(await replay({ file, test: "rejects any other text without throwing", seed: 7 })).toEqual({
      passed: 1,
      failed: [],
    });
    expect(await replay({ file, test: "rejects any other text", seed: 7 })).toEqual({ passed: 0, failed: [] });
    const grouped = {
      file: "test/scripts/nightly.servers.test.ts",
      test: "the options > choose all parts, or some of them in their usual order",
    };
    expect(await replay({ ...grouped, seed: 7 })).toEqual({ passed: 1, failed: [] });
  });

  it("fails again while the fault is there", async () => {
    const { passed, failed } = await replay({
      file: "test/property-seed.test.ts",
      test: 'refuses "-1"',
      seed: 2 ** 31,
    });

    expect(passed).toBe(0);
    expect(failed.join()).toContain("a seed is a whole number");
  });

  it("is looked for in the tests that generate their inputs, also through helpers", () => {
    expect(seededFiles(repository)).toEqual(
      expect.arrayContaining([
        "test/system/tracker/tracker.database.test.ts",
        "test/auth/users/account-model.database.test.ts",
        "test/graphql/execute/differential.test.ts",
        "test/system/interleavings/drain.test.ts",
        "test/sql/lists/walks.database.test.ts",
      ]),
    );
    expect(seededFiles(repository)).not.toContain("test/workflows.test.ts");
  });
});
