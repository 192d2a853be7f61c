import { describe, expect, it } from "vitest";
import { pageProgram } from "./docs/page-program.ts";

const { faults, load } = await pageProgram("docs/guide/testing.md");

it("compiles", () => {
  expect(faults).toEqual([]);
});

describe("the tests of the page for second factors", async () => {
  await load("payouts.test.ts");
  await load("second-factor.test.ts");
});
