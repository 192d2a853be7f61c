import { createMarkdownRenderer } from "vitepress";
import { describe, expect, it } from "vitest";
import { declarationOf } from "../docs/.vitepress/declaration-of.ts";
import { doorPages } from "../docs/.vitepress/door-pages.ts";
import { doors, exportedNames } from "../docs/.vitepress/doors.ts";
import { markdown } from "../docs/.vitepress/markdown.ts";
import { sidebar, sidebars } from "../docs/.vitepress/navigation.ts";
import { fullText, listOf } from "../docs/.vitepress/write-texts.ts";
import { filesBelow, read } from "../scripts/package/repository.ts";

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

describe("the beginning", () => {
  it("is the same command everywhere", () => {
    const command = "```sh\nnpm create portico@latest my-api\ncd my-api\nnpm run dev\n```";
    const pages = ["README.md", "docs/index.md", "docs/guide/quick-start.md"];

    expect(pages.filter((page) => !read(page).includes(command))).toEqual([]);
  });
});

describe("commands of a package manager", () => {
  const tabs = async (page: string): Promise<readonly string[]> => {
    const renderer = await createMarkdownRenderer("docs", markdown);
    const html = renderer.render(page, { relativePath: "page.md" });
    return [...html.matchAll(/<code[^>]*>(.*?)<\/code>/gs)].map(([, code = ""]) => code.replaceAll(/<[^>]+>/g, ""));
  };

  it("are shown for npm, pnpm and Yarn where they differ", async () => {
    expect(await tabs("```sh\nnpm install --save-dev kysely\n```\n")).toEqual([
      "npm install --save-dev kysely",
      "pnpm add --save-dev kysely",
      "yarn add --dev kysely",
    ]);
    expect(await tabs("```sh\nnpm create portico@latest my-api\ncd my-api\nnpm run dev\n```\n")).toEqual([
      "npm create portico@latest my-api\ncd my-api\nnpm run dev",
      "pnpm create portico@latest my-api\ncd my-api\npnpm run dev",
      "yarn create portico my-api\ncd my-api\nyarn run dev",
    ]);
  });

  it("stay as they are among others", async () => {
    const others = ["```sh\nnpm install redis\nnode app.ts\n```\n", "```sh\ncd my-api\nnpm run dev\n```\n"];

    for (const page of others) expect(await tabs(page)).toHaveLength(1);
  });
});

describe("the code of a page", () => {
  // The theme wraps the lines of these, because they are commands and output.
  const wrapped = new Set(["sh", "dockerfile", "text", "http", ""]);

  it("has lines of at most 84 characters, so that it doesn't scroll sideways", async () => {
    const pages = ["README.md", ...(await filesBelow("docs", ".md"))].filter(
      (page) => !/^docs\/(?:api\/|comparison)/.test(page),
    );
    const wide = pages.flatMap((page) =>
      [...read(page).matchAll(/^(?<indent> *)```(?<language>\w*)(?: [^\n]*)?\n(?<code>.*?)^ *```$/gms)].flatMap(
        ({ groups }) => {
          const { language = "", indent = "", code = "" } = groups ?? {};
          const lines = wrapped.has(language) ? [] : code.split("\n");
          return lines.filter((line) => line.length - indent.length > 84).map((line) => `${page}: ${line}`);
        },
      ),
    );

    expect(wide).toEqual([]);
  });
});

describe("the sidebars of the sections", () => {
  const more = { text: "Exports", items: [{ text: "portico", link: "/api/portico" }] };
  const found = sidebars(read("docs/README.md"), more);
  const titles = (path: string) => (found[path] as readonly { readonly text?: string }[]).map(({ text }) => text);

  it("contain the groups of their section only", () => {
    expect(titles("/guide/")).toContain("Getting started");
    expect(titles("/guide/")).not.toContain("Reference");
    expect(titles("/recipes/")).toEqual(["Recipes"]);
    expect(titles("/reference/")).toEqual(["Reference", "Exports"]);
    expect(titles("/decisions/")).toEqual(["About", "Decisions"]);
  });

  it("belong to the pages of the section, wherever their files are", () => {
    for (const path of ["/coming-from/", "/deployment/", "/reliability"]) expect(found[path]).toEqual(found["/guide/"]);
    expect([found["/api/"], found["/errors"]]).toEqual([found["/reference/"], found["/decisions/"]]);
  });
});

describe("the table of error codes", () => {
  const render = async (relativePath: string): Promise<string> => {
    const renderer = await createMarkdownRenderer("docs", markdown);
    const rows = "| code | status |\n|---|---|\n| `RATE_LIMITED` | 429 |\n| `code` | `ABC` |\n";
    return renderer.render(rows, { relativePath });
  };

  it("has an anchor for each code", async () => {
    const html = await render("errors.md");

    expect(html).toContain('<tr id="RATE_LIMITED">');
    expect(html).toMatch(/<td><a href="#RATE_LIMITED"[^>]*><code[^>]*>RATE_LIMITED<\/code><\/a><\/td>/);
    expect(html.match(/ id="/g)).toHaveLength(1);
  });

  it("is the only one with anchors", async () => {
    expect(await render("faq.md")).not.toContain(" id=");
  });
});

describe("the texts for programs", () => {
  const contents = read("docs/README.md");

  it("list the pages by their addresses", () => {
    const list = listOf(contents);

    expect(list).toMatch(/^# Portico\n\n> .+\n/);
    expect(list).toContain("- [Quick start](/guide/quick-start): ");
    expect(list).not.toContain(".md)");
  });

  it("contain every page of the guide, the recipes and the reference once", async () => {
    const full = fullText(contents);
    const pages = (await filesBelow("docs", ".md")).filter((page) =>
      /^docs\/(?:guide|deployment|recipes|reference)\//.test(page),
    );

    for (const page of pages) expect(full.split(read(page)), page).toHaveLength(2);
  });
});

describe("the pages that are made from the doc comments", () => {
  const pages = doorPages();

  it.each(doors)("have a heading for everything that %s exports", (door, file) => {
    const content = pages.find((page) => page.door === door)?.content ?? "";

    expect(exportedNames(file).filter((name) => !content.includes(`\n### ${name} {#${name}}\n`))).toEqual([]);
  });

  it.each(doors)("show the declaration of everything that %s exports", (door, file) => {
    const content = pages.find((page) => page.door === door)?.content ?? "";
    const isDeclared = (name: string): boolean => {
      const entry = content.split(/\n(?=### )/).find((text) => text.startsWith(`### ${name} {`)) ?? "";
      const [, code = ""] = /^```ts\n(.+?)^```$/ms.exec(entry) ?? [];
      return /^(?:abstract )?(?:class|const|function|interface|namespace|type) \w/.test(code);
    };

    expect(exportedNames(file).filter((name) => !isDeclared(name))).toEqual([]);
  });

  it("link each entry to the reference and the guide, and its types to their entries", () => {
    const entries = pages.flatMap(({ content }) => content.split(/\n(?=### )/).slice(1));
    const strategy = entries.find((entry) => entry.startsWith("### CursorPagination ")) ?? "";

    expect(entries.filter((entry) => !/^See \[.* \(reference\)\]\(.+ \(guide\)\]\(/m.test(entry))).toEqual([]);
    expect(strategy).toContain("[`CursorOptions`](#CursorOptions)");
    expect(strategy).toContain("[`StrategyDescription`](");
    expect(strategy).toContain("[Pagination (guide)](/guide/pagination)");
  });

  it("take over what a comment says, its example, and the signature", () => {
    expect(declarationOf("src/index.ts", "env")).toEqual({
      name: "env",
      local: "env",
      kind: "function",
      file: "src/core/env.ts",
      text: expect.stringMatching(/variable/),
      signature: expect.stringMatching(/^function env\(name: string.*\): string;$/),
      example: expect.stringMatching(/^```ts\nimport .*env.* from "portico";\n.*```$/s),
    });
  });

  it("show a class with its constructor and methods, and without bodies and private members", () => {
    const { signature = "" } = declarationOf("src/auth/index.ts", "APIKeys") ?? {};

    expect(signature).toMatch(/^class APIKeys \{\n {2}constructor\(options: APIKeysOptions = \{\}\);\n/);
    expect(signature).toContain("  /** Lists the user's keys, newest first. */\n  list(user: UserProtocol): Promise<");
    expect(signature).not.toMatch(/#|\bthis\.|\basync\b|@internal/);
    expect(declarationOf("src/index.ts", "PorticoApp")?.signature.match(/^ {2}override[<(]/gm)).toHaveLength(2);
  });

  it("show a constant with its type, every overload of a function, and the members of a namespace", () => {
    const signatureOf = (file: string, name: string): string => declarationOf(file, name)?.signature ?? "";

    expect(signatureOf("src/graphql/index.ts", "field")).toBe('const field: FieldFunction<"field">;');
    expect(signatureOf("src/graphql/declare/types/t.ts", "enum").match(/^function enumOf</gm)).toHaveLength(2);
    expect(signatureOf("src/graphql/index.ts", "t")).toMatch(
      /^namespace t \{\n.*\n {2}\/\*\* `Int`: .*\*\/\n {2}const int: Scalar<number>;\n.*\}$/s,
    );
  });

  it("find a name through the files that pass it on, under its own name there", () => {
    expect(declarationOf("src/index.ts", "NotFound")).toMatchObject({
      kind: "class",
      file: "src/kernel/exceptions/http-exception.ts",
    });
    expect(declarationOf("src/graphql/index.ts", "t")).toMatchObject({ kind: "namespace" });
    expect(declarationOf("src/index.ts", "NobodyExportsThis")).toBeUndefined();
  });
});

describe("a link to a file of the repository that is no page", () => {
  it("shows a source file that has a paragraph for itself, and is text everywhere else", async () => {
    const renderer = await createMarkdownRenderer("docs", markdown);
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
