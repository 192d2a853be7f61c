import { createMarkdownRenderer } from "vitepress";
import { describe, expect, it } from "vitest";
import { declarationOf } from "../docs/.vitepress/declaration-of.ts";
import { doorPages } from "../docs/.vitepress/door-pages.ts";
import { doors, exportedNames } from "../docs/.vitepress/doors.ts";
import { sidebar } from "../docs/.vitepress/navigation.ts";
import { repositoryLinks } from "../docs/.vitepress/repository-links.ts";
import { filesBelow, read } from "./docs/repository.ts";

describe("the sidebar of the site", () => {
  it("has a group per heading, and what is indented below its own", () => {
    const contents = `# Contents

## Guide

1. [Routes](guide/routes.md): paths
   - [Files](guide/files.md): large ones
2. [Sockets](guide/sockets.md): see [Routes](guide/routes.md)

## Reference

| page | about |
|---|---|
| [App](reference/app.md) | [Routes](guide/routes.md) |

## Elsewhere

- [Fastify](https://fastify.dev/README.md)
`;

    expect(sidebar(contents)).toEqual([
      {
        text: "Guide",
        items: [
          { text: "Routes", link: "/guide/routes", items: [{ text: "Files", link: "/guide/files" }] },
          { text: "Sockets", link: "/guide/sockets" },
        ],
      },
      { text: "Reference", items: [{ text: "App", link: "/reference/app" }] },
    ]);
  });

  it("leads to every page, and to each once", async () => {
    const pages = await filesBelow("docs", ".md");
    const links = JSON.stringify(sidebar(read("docs/README.md"))).match(/(?<="link":")[^"]+/g) ?? [];

    expect(links.toSorted()).toEqual(
      pages
        .filter((page) => !/^docs\/(?:api\/|README|index)/.test(page))
        .map((page) => page.replace(/^docs(.*)\.md$/, "$1"))
        .toSorted(),
    );
  });
});

describe("the pages that are made from the doc comments", () => {
  const pages = doorPages();

  it.each(doors)("have a heading for everything that %s exports", (door, file) => {
    const content = pages.find((page) => page.door === door)?.content ?? "";

    expect(exportedNames(file).filter((name) => !content.includes(`\n### ${name}\n`))).toEqual([]);
  });

  it("take over what a comment says, its example, and the signature", () => {
    expect(declarationOf("src/index.ts", "env")).toEqual({
      name: "env",
      kind: "function",
      file: "src/core/env.ts",
      text: expect.stringMatching(/variable/),
      signature: expect.stringMatching(/^function env\(name: string.*\): string;$/),
      example: expect.stringMatching(/^```ts\nimport .*env.* from "portico";\n.*```$/s),
    });
  });

  it("find a name through the files that pass it on, under its own name there", () => {
    expect(declarationOf("src/index.ts", "NotFound")).toMatchObject({
      kind: "class",
      file: "src/http/exceptions/http-exception.ts",
    });
    expect(declarationOf("src/graphql/index.ts", "t")).toMatchObject({ kind: "namespace" });
    expect(declarationOf("src/index.ts", "NobodyExportsThis")).toBeUndefined();
  });
});

describe("a link to a file of the repository that is no page", () => {
  it("shows a source file that has a paragraph for itself, and is text everywhere else", async () => {
    const renderer = await createMarkdownRenderer("docs", { config: repositoryLinks });
    const page =
      "[env](../src/core/env.ts)\n\nSee [the code](../src/core/env.ts), [Routes](guide/routes.md) and [us](../SECURITY.md).\n";

    const html = renderer.render(page, { relativePath: "page.md" });

    expect(html).toMatch(/^<p><span>env<\/span><\/p>\n<div class="language-ts/);
    expect(html.replace(/<[^>]+>/g, "")).toContain("export function env(");
    expect(html).toMatch(
      /<p>See <span>the code<\/span>, <a href=".*routes.*">Routes<\/a> and <span>us<\/span>\.<\/p>\n$/,
    );
    expect(html.match(/class="language-ts/g)?.length).toBe(1);
  });
});
