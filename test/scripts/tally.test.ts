import { expect, it } from "vitest";
import { tally } from "../../scripts/tally.ts";

it("counts the run in one line and leaves out what is not there", () => {
  const passed = { title: "a", status: "passed" };

  expect(tally([passed, passed, { title: "b", status: "failed" }])).toBe("2 passed, 1 failed");
  expect(tally([passed, { title: "b", status: "pending" }, { title: "c", status: "todo" }])).toBe(
    "1 passed, 0 failed, 2 skipped",
  );
});
