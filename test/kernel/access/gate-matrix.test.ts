import { ConfigurationError } from "portico";
import { describe, expect, it, onTestFinished } from "vitest";
import { Bench, cellsInTurn, cellsOf, fits } from "./matrix/cells.ts";
import { forms, hasRule } from "./matrix/forms.ts";
import { gateApp } from "./matrix/gate-app.ts";
import { identities } from "./matrix/identities.ts";
import { places } from "./matrix/places.ts";

// Every form of `auth` in every place, for every caller. Each cell compares the response, the code that ran and the values that were
// sent with the model in matrix/model.ts and in the places. With PORTICO_LONG=1 every cell is tried over every transport. Otherwise
// the transports take turns: what a gate decides was never wrong over one transport for some callers only.
const isLong = process.env["PORTICO_LONG"] === "1";
const isOther = process.env["PORTICO_GRAPHQL"] === "17";

/** A form, a place, a caller or a transport that is left out changes this number. */
const CELLS = isLong ? (isOther ? 72_848 : 74_088) : isOther ? 26_272 : 27_392;

let count = 0;

describe("the matrix of gates", () => {
  it.each(Object.entries(forms))("auth: %s", async (_name, form) => {
    const fitting = places.filter((place) => fits(form, place));
    const bench = await Bench.open(form, fitting);
    onTestFinished(() => bench.close());
    const wrong: string[] = [];
    for (const [index, place] of fitting.entries())
      for (const cell of isLong ? cellsOf(form, place) : cellsInTurn(form, place, index)) {
        const difference = await bench.difference(place, cell);
        if (difference !== null) wrong.push(`${place.name}, ${difference}`);
        count++;
      }

    expect(wrong).toEqual([]);
  });

  it.each(places.filter(({ hasObject }) => !hasObject))(
    "rejects rules at startup without an object: $name",
    (place) => {
      for (const form of Object.values(forms).filter(hasRule)) {
        expect(() => gateApp(form, [place])).toThrow(ConfigurationError);
        count++;
      }
    },
  );

  it("has all of its cells", () => {
    const [of, at, by] = [Object.keys(forms).length, places.length, identities.length];
    process.stdout.write(`gate matrix: ${count} cells (${of} forms, ${at} places, ${by} callers)\n`);

    expect(count).toBe(CELLS);
  });
});
