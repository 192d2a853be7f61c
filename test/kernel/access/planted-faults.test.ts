import type { HttpContext, Middleware } from "portico";
import { describe, expect, it, onTestFinished } from "vitest";
import { FAULT } from "./matrix/auth-of.ts";
import { Bench, type Cell, cellsOf, fits } from "./matrix/cells.ts";
import { type Form, forms } from "./matrix/forms.ts";
import type { Place, Site } from "./matrix/place.ts";
import { places } from "./matrix/places.ts";
import { canaryOf } from "./matrix/probe.ts";

const plantedForms = ["a permission", "a rule by owner"].map((name) => forms[name] as Form);

/** Runs all cells of a place, and returns the wrong ones. */
async function wrongCells(form: Form, place: Place, isUnguarded: boolean): Promise<readonly Cell[]> {
  const bench = await Bench.open(form, [place], isUnguarded);
  onTestFinished(() => bench.close());
  const wrong: Cell[] = [];
  for (const cell of cellsOf(form, place)) if ((await bench.difference(place, cell)) !== null) wrong.push(cell);
  return wrong;
}

describe("the matrix finds a missing check", () => {
  it.each(places)("$name", async (place) => {
    for (const form of plantedForms.filter((one) => fits(one, place))) {
      const found = new Set((await wrongCells(form, place, true)).map(({ transport }) => transport));

      expect([...found]).toEqual(place.transports);
    }
  });
});

describe("the matrix finds, although the response is a refusal,", () => {
  const [route] = places as readonly [Place];
  type Early = (ctx: HttpContext, site: Site) => void;
  const cases: readonly (readonly [name: string, early: Early])[] = [
    ["guarded code that runs before the check", (_ctx, { probe }) => void probe.reveal("mine")],
    ["a guarded value in a header", ({ response }) => void response.header("x-hint", canaryOf("mine"))],
    ["the message of a gate that failed", ({ response }) => void response.header("x-hint", FAULT)],
  ];

  it.each(cases)("%s", async (_name, early) => {
    const place: Place = {
      ...route,
      declare(site, { gate }) {
        const middleware: Middleware = async (ctx, next) => {
          early(ctx as HttpContext, site);
          await next();
        };
        site.app.get("/route/:owner", { ...gate, middleware: [middleware] }, () => site.probe.reveal("mine"));
      },
    };

    expect(await wrongCells(plantedForms[0] as Form, place, false)).not.toEqual([]);
  });
});
