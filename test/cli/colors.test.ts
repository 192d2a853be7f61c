import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "../../scripts/package/repository.ts";
import { hasColors, paintFor } from "../../src/cli/output/paint.ts";

it("colors are for terminals, and for people who did not set NO_COLOR", () => {
  expect(hasColors(80, {})).toBe(true);
  // https://no-color.org: an empty value does not count.
  expect(hasColors(80, { NO_COLOR: "" })).toBe(true);
  expect(hasColors(80, { NO_COLOR: "0" })).toBe(false);
  expect(hasColors(null, {})).toBe(false);
  expect(paintFor(true)("red", "late")).toBe("\u001b[31mlate\u001b[39m");
  expect(paintFor(false)("red", "late")).toBe("late");
});

it("no other file of the commands decides on colors or writes escape sequences", () => {
  const files = globSync("src/cli/**/*.ts", { cwd: root }).filter((file) =>
    /styleText|\\u001b|\\x1b|NO_COLOR|hasColors/.test(readFileSync(join(root, file), "utf8")),
  );

  expect(files.toSorted()).toEqual(["src/cli/commands/dev/dev.ts", "src/cli/output/paint.ts"]);
});
