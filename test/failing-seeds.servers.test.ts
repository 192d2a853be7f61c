import { expect, it } from "vitest";
import { readFailingSeeds } from "../lab/nightly/failing-seeds.ts";
import { replay } from "../lab/nightly/replay.ts";

const failed = readFailingSeeds();

it("lists the seeds that have failed, each with its test and the day", () => {
  for (const entry of failed)
    expect(entry).toEqual({
      file: expect.stringMatching(/^(?:test|examples)\/.+\.test\.ts$/),
      test: expect.stringMatching(/./),
      seed: expect.any(Number),
      day: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
    });
  expect(Array.isArray(failed)).toBe(true);
});

// Not it.each, which would read a % in a title.
for (const entry of failed)
  it(`${entry.file}: ${entry.test}, with seed ${entry.seed}`, async () => {
    expect(await replay(entry)).toEqual({ passed: 1, failed: [] });
  });
