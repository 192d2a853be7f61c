import { type TableHandler, tableHandler } from "portico/sql";
import { describe, expect, it } from "vitest";
import { propertySeed, runs } from "../../lab/seeds/property-seed.ts";
import { engineNames } from "../../lab/servers/engines.ts";
import { checkForeignQueries } from "../../lab/shapes/check-foreign-queries.ts";
import { checkShapes, shapesOfKysely } from "../../lab/shapes/check-shapes.ts";
import { shapesOfDrizzle } from "../../lab/shapes/drizzle-shape.ts";
import { kyselyShape } from "../../lab/shapes/kysely-shape.ts";

describe("queries of generated shapes", () => {
  const seed = propertySeed();
  const places = engineNames.flatMap((name) =>
    (name === "MariaDB" ? ["", " with its default collation"] : [""]).map((collation) => [name, collation] as const),
  );

  it.each(places)("have the rows and totals that a rule allows, on %s%s", async (name, collation) => {
    const { checked, wrong } = await checkShapes(name, { count: runs(120), seed, isLoose: collation !== "" });

    expect(wrong).toEqual([]);
    expect(checked).toBeGreaterThan(50);
  });

  it("are merged from the values of a rule, where PostgreSQL has an index for it", async () => {
    const { merged, wrong } = await checkShapes("PostgreSQL", { count: runs(200), seed });

    expect(wrong).toEqual([]);
    expect(merged).toBeGreaterThan(0);
  });

  it.each(engineNames)("have them through Drizzle too, on %s", async (name) => {
    const { checked, wrong } = await checkShapes(name, { count: runs(120), seed }, shapesOfDrizzle);

    expect(wrong).toEqual([]);
    expect(checked).toBeGreaterThan(15);
  });

  it.each(places)("have them if an application wrote the query, on %s%s", async (name, collation) => {
    const options = { count: runs(150), seed, isLoose: collation !== "" };
    const { checked, wrong } = await checkForeignQueries(name, options);

    expect(wrong).toEqual([]);
    expect(checked).toBeGreaterThan(100);
  });

  it("are found if totals ignore the rule", async () => {
    const counting = (query: any): TableHandler<any> => {
      const list: TableHandler<any> = tableHandler(query);
      const scope = list.scopedTo.bind(list);
      const scopedTo = (condition: Parameters<typeof scope>[0]): TableHandler<any> =>
        Object.assign(scope(condition), { getTotalItems: () => list.getTotalItems() });
      return Object.assign(list, { scopedTo });
    };
    const { wrong } = await checkShapes("SQLite", { count: 40, seed }, (engine) => ({
      ...shapesOfKysely(engine),
      handlerOf: (shape) => counting(kyselyShape(engine, shape)),
    }));

    expect(wrong.some(({ reason }) => reason.startsWith("total:"))).toBe(true);
  });
});
