import { expect, it } from "vitest";
import { propertySeed, runs } from "../../../lab/seeds/property-seed.ts";
import { checkTriples } from "../../../lab/shapes/check-triples.ts";

it.each(["PostgreSQL", "SQLite"] as const)(
  "JavaScript, a list, the guard and policies decide the same about a user, a row and a verb, on %s",
  async (name) => {
    const { compared, counts, wrong } = await checkTriples(name, { count: runs(250), seed: propertySeed() });

    expect(wrong).toEqual([]);
    expect(compared).toBe(runs(250));
    for (const verb of ["read", "insert", "update", "delete"])
      for (const decision of ["allowed", "denied"]) expect(counts[`${verb} ${decision}`]).toBeGreaterThan(0);
  },
);
