import { describe, expect, it } from "vitest";
import manifest from "../package.json" with { type: "json" };

const doors = Object.keys(manifest.exports)
  .filter((door) => door !== "./package.json")
  .map((door) => door.replace(/^\./, "portico"));

describe("the doors", () => {
  it.each(doors)("%s exports these names", async (door) => {
    const names = Object.keys((await import(door)) as object).toSorted();

    expect(names).toMatchSnapshot();
  });
});
