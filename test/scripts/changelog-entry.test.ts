import { globSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { changelogEntry, readChangeset } from "../../scripts/release/changelog-entry.ts";

const file = (bump: string, text: string): string => `---\n"portico": ${bump}\n---\n\n${text}\n`;

describe("the changelog entry of a version", () => {
  it("lists breaking changes first, then the others by area", () => {
    const changesets = [
      file("patch", "sql: A page of a view needs one statement."),
      file("minor", "graphql: `arg` has a new option.\nIt is called `x`."),
      file("minor", "sql!: `open` is now `openDatabase`:\n\n```diff\n-open(url)\n+openDatabase(url)\n```"),
      file("patch", "graphql: Errors name the field."),
    ].map((content, index) => readChangeset(`${index}.md`, content));

    expect(changelogEntry("0.2.0", changesets)).toBe(`## 0.2.0

### Breaking changes

- **Sql:** \`open\` is now \`openDatabase\`:

  \`\`\`diff
  -open(url)
  +openDatabase(url)
  \`\`\`

### Graphql

- \`arg\` has a new option.
  It is called \`x\`.
- Errors name the field.

### Sql

- A page of a view needs one statement.
`);
  });
});

describe("a changeset", () => {
  it.each([
    ["names another package", `---\n"create-portico": patch\n---\n\ncreate: Text.\n`, 'must name only "portico"'],
    ["has no area", file("patch", "Lists are faster."), "begin with the area"],
    ["is a breaking patch", file("patch", "sql!: Gone.\n```\n```"), "a breaking change needs a minor or major version"],
    ["breaks without the lines to change", file("minor", "sql!: Gone."), "needs the lines to change"],
  ])("is rejected with its file if it %s", (_case, content, message) => {
    expect(() => readChangeset("blue-fox.md", content)).toThrow(/^blue-fox\.md: /);
    expect(() => readChangeset("blue-fox.md", content)).toThrow(message);
  });

  it("has this form in the repository", () => {
    for (const file of globSync(".changeset/[a-z]*.md"))
      expect(() => readChangeset(file, readFileSync(file, "utf8"))).not.toThrow();
  });
});
