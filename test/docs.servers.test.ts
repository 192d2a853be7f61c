import { describe, expect, it } from "vitest";
import { doors, exportedNames } from "../docs/.vitepress/doors.ts";
import { filesBelow, read } from "../scripts/package/repository.ts";
import { chainPages } from "../scripts/snippets/chain-pages.ts";
import { commentSnippets, compileSnippets, foreignSnippets, pageSnippets } from "../scripts/snippets/snippets.ts";
import { errorCodes } from "../src/core/error-codes.ts";
import { graphqlPages } from "./docs/graphql-pages.ts";
import { brokenLinks, codeOf, optionTables, tableOf } from "./docs/markdown.ts";
import { workspacePages } from "./docs/workspace-pages.ts";

const pages = ["README.md", ...(await filesBelow("docs", ".md")), ...(await filesBelow("examples", ".md"))];
const reference = await filesBelow("docs/reference", ".md");
const sources = [...(await filesBelow("src", ".ts")), ...(await filesBelow("packages/portico-client/src", ".ts"))];

describe("docs/errors.md", () => {
  it("has one row per code, with its status, in the order of the source", () => {
    const rows = tableOf("docs/errors.md").map(([code, status]) => `${code} ${status}`);

    expect(rows).toEqual(Object.entries(errorCodes).map(([code, status]) => `\`${code}\` ${status}`));
  });

  it("says of each code when it comes and what to do", () => {
    for (const row of tableOf("docs/errors.md"))
      expect(row).toEqual([
        expect.any(String),
        expect.any(String),
        expect.stringMatching(/\w/),
        expect.stringMatching(/\w/),
      ]);
  });
});

describe("the reference", () => {
  const named = reference.map(codeOf).join("\n");

  it.each(doors)("names everything that %s exports", (_door, file) => {
    const names = exportedNames(file);

    expect(names.length).toBeGreaterThan(2);
    expect(names.filter((name) => !new RegExp(`(?<![\\w$])${name}(?![\\w$])`).test(named))).toEqual([]);
  });

  it.each(doors)("knows the runtime names of %s from its source", async (door, file) => {
    const names = exportedNames(file);

    expect(Object.keys((await import(door)) as object).filter((name) => !names.includes(name))).toEqual([]);
  });

  it.each(reference)("leads from %s to the guide", (page) => {
    expect(read(page)).toMatch(/\]\(\.\.\/guide\/[\w-]+\.md/);
  });

  it("has the default of every option in its tables", () => {
    // The command line states the default in the description.
    const tables = reference.filter((page) => page !== "docs/reference/cli.md").flatMap(optionTables);

    expect(tables.length).toBeGreaterThan(30);
    expect(tables.filter(({ head }) => head.at(-1) !== "default").map(({ at }) => at)).toEqual([]);
    expect(tables.flatMap(({ rows }) => rows).filter((row) => row.at(-1) === "")).toEqual([]);
  });
});

describe("the snippets", () => {
  it("of the pages and of the doc comments type-check", async () => {
    const snippets = [
      ...pages
        .filter((page) => ![...graphqlPages, ...chainPages, ...workspacePages].includes(page))
        .flatMap(pageSnippets),
      ...sources.flatMap(commentSnippets),
    ];

    expect(snippets.length).toBeGreaterThan(50);
    expect(await compileSnippets("docs", snippets)).toEqual([]);
  }, 180_000);

  it("are really checked: a fault is found, at its line", async () => {
    const code = 'import { PorticoApp } from "portico";\n\nnew PorticoApp({ titel: "Bookshop" });';

    const faults = await compileSnippets("faulty", [{ file: "docs/faulty.md", line: 10, language: "ts", code }]);

    expect(faults).toEqual([expect.stringMatching(/^docs\/faulty\.md:12: error TS\d+: .*titel/)]);
  }, 180_000);
});

describe("code for other frameworks and services, which is not compiled", () => {
  const foreign = pages.flatMap(foreignSnippets);

  it("occurs only in the pages for people who come from there, and where a recipe needs a package of 23 MB", () => {
    expect([...new Set(foreign.map(({ file }) => file))]).toEqual([
      ...pages.filter((page) => page.startsWith("docs/coming-from/")),
      "docs/recipes/object-storage.md",
    ]);
  });

  it("uses nothing of Portico", () => {
    expect(foreign.filter(({ code }) => /["']portico/.test(code))).toEqual([]);
  });
});

describe("the pages", () => {
  it.each(pages)("%s links to what is there", (page) => {
    expect(brokenLinks(page)).toEqual([]);
  });

  it("are all linked from the index", () => {
    const index = read("docs/README.md");
    const unlinked = pages
      // Of the site alone: its start page, and the template of the pages that are made from the sources.
      .filter((page) => /^docs\/(?!api\/|README\.md|index\.md)/.test(page))
      .filter((page) => !index.includes(`](${page.replace("docs/", "")})`));

    expect(unlinked).toEqual([]);
  });
});
