import { TableHandler } from "portico/sql";
import { describe, expect, it } from "vitest";
import { checkShapes, shapesOfKysely } from "../../scripts/shapes/check-shapes.ts";
import { shapesOfDrizzle } from "../../scripts/shapes/drizzle-shape.ts";
import { kyselyShape } from "../../scripts/shapes/kysely-shape.ts";
import { propertySeed, runs } from "../property-seed.ts";
import { engineNames } from "../sql/engines.ts";

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

  it.each(engineNames)("have them through Drizzle too, on %s", async (name) => {
    const { checked, wrong } = await checkShapes(name, { count: runs(120), seed }, shapesOfDrizzle);

    expect(wrong).toEqual([]);
    expect(checked).toBeGreaterThan(15);
  });

  it("are found if totals ignore the rule", async () => {
    class Counting extends TableHandler<any> {
      readonly #whole: TableHandler<any>;
      constructor(query: any, whole: TableHandler<any> = new TableHandler<any>(query)) {
        super(query);
        this.#whole = whole;
      }
      override scopedTo(...[condition]: Parameters<TableHandler<any>["scopedTo"]>) {
        const whole = this.#whole;
        return Object.assign(super.scopedTo(condition), { getTotalItems: () => whole.getTotalItems() });
      }
    }
    const { wrong } = await checkShapes("SQLite", { count: 40, seed }, (engine) => ({
      ...shapesOfKysely(engine),
      handlerOf: (shape) => new Counting(kyselyShape(engine, shape)),
    }));

    expect(wrong.some(({ reason }) => reason.startsWith("total:"))).toBe(true);
  });
});
