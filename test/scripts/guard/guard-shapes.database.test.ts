import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { propertySeed, runs } from "../../../lab/seeds/property-seed.ts";
import { checkGuard } from "../../../lab/shapes/check-guard.ts";
import { guardFaults } from "../../../lab/shapes/guard-faults.ts";

describe("reads and writes through the guard", () => {
  it.each(["PostgreSQL", "SQLite"] as const)("are those that JavaScript allows, on %s", async (name) => {
    const { compared, counts, wrong } = await checkGuard(name, { count: runs(150), seed: propertySeed() });

    expect(wrong).toBeNull();
    expect(compared).toBeGreaterThan(100);
    expect(counts).toMatchObject({
      read: expect.any(Number),
      list: expect.any(Number),
      write: expect.any(Number),
      "write that is refused": expect.any(Number),
    });
  });

  it.each(Object.entries(guardFaults))("would change with the fault: %s", (_name, { file, from, to }) => {
    const source = readFileSync(new URL(`../../../${file}`, import.meta.url), "utf8");

    expect(source.split(from)).toHaveLength(from.startsWith("if (isRoot) this.#probe(") ? 3 : 2);
    expect(source.replaceAll(from, to)).not.toBe(source);
  });
});
