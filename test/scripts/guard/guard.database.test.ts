import { describe, expect, it } from "vitest";
import { checkTracker } from "../../../lab/guard/check-tracker.ts";
import { propertySeed, runs } from "../../../lab/seeds/property-seed.ts";

const engines = ["PostgreSQL", "SQLite"] as const;

describe("a tracker whose handlers check nothing", () => {
  it.each(engines)("keeps its tenants apart by the guard of its database, on %s", async (name) => {
    const { counts, faults } = await checkTracker(name, { operations: runs(1_000), seed: propertySeed() });

    expect(faults).toEqual([]);
    const [withData, refused] = ["with data", "refused with 403"].map(
      (ending) => Object.keys(counts).filter((what) => what.endsWith(ending)).length,
    );
    expect(withData).toBeGreaterThan(12);
    expect(refused).toBeGreaterThan(4);
    expect(counts["a way around"]).toBeGreaterThan(20);
    expect(counts["events of south"]).toBeGreaterThan(10);
  });

  it("mixes them without one", async () => {
    const { faults } = await checkTracker("SQLite", { operations: 200, seed: propertySeed(), isOpen: true });

    expect(faults.some((fault) => fault.includes("received"))).toBe(true);
    expect(faults.some((fault) => fault.includes("has changed rows of the other tenant"))).toBe(true);
  });
});
