import { globSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { read, root } from "../../scripts/package/repository.ts";
import { shellBlocks, withoutSetUp } from "./shell-blocks.ts";

/** The pages that most people read. */
const PAGES = [
  "README.md",
  "docs/README.md",
  "docs/guide/quick-start.md",
  "docs/guide/tutorial.md",
  "docs/guide/sign-in.md",
  "docs/guide/authentication.md",
  "docs/guide/resolvers.md",
  "docs/guide/graphql-endpoint.md",
  "docs/guide/pagination.md",
  "docs/guide/authorization.md",
  "docs/guide/testing.md",
  "docs/guide/deployment.md",
];
const tests = globSync("test/**/*.servers.test.ts", { cwd: root })
  .map(read)
  .filter((text) => text.includes("shellBlocks("));

/** The blocks of a page that no test runs, unless the page says why. */
function notRun(page: string): readonly string[] {
  if (tests.some((text) => text.includes(`"${page}"`))) return [];
  return shellBlocks(page)
    .filter(({ commands, notRun }) => withoutSetUp(commands) !== "" && notRun === undefined)
    .map(({ commands }) => commands);
}

describe("the commands of the most-read pages", () => {
  it("are found", () => {
    expect(PAGES.flatMap(shellBlocks).length).toBeGreaterThan(35);
  });

  it.each(PAGES)("are run by a test, or %s says why not", (page) => {
    expect(notRun(page)).toEqual([]);
  });

  it("would be reported on another page", () => {
    expect(notRun("docs/guide/development.md")).not.toEqual([]);
  });
});
