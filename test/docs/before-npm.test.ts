import { globSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { read, root } from "../../scripts/package/repository.ts";
import { withoutNpmNotes } from "../../scripts/release/without-npm-notes.ts";

// Goes when the packages are on npm, together with the notes.

const FIRST = /^```sh(?: \[\w+\])?\n(?:(?!^```).*\n)*?.*\b(?:npm|pnpm|yarn) (?:create|install) portico/m;
const pages = globSync(["README.md", "docs/**/*.md", "packages/*/README.md"], { cwd: root }).filter((page) =>
  FIRST.test(read(page)),
);

describe("until Portico is on npm", () => {
  it.each(pages)("%s says above its first command what to do", (page) => {
    const [before = ""] = read(page).split(FIRST);

    expect(before).toContain("**Portico is not on npm yet.** Until it is, ");
  });

  it("the published README files say nothing about it", () => {
    for (const page of pages) expect(withoutNpmNotes(read(page))).not.toMatch(/not on npm|before npm/);
  });

  it("the tarballs have the version of the packages", () => {
    const { version } = JSON.parse(read("package.json")) as { readonly version: string };
    const named = pages.flatMap((page) =>
      [...read(page).matchAll(/portico-(\d+\.\d+\.\d+)\.tgz/g)].map(([, found]) => found),
    );

    expect(named.length).toBeGreaterThan(4);
    expect(new Set(named)).toEqual(new Set([version]));
  });
});
