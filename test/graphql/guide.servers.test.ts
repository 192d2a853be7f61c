import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { transformSync } from "esbuild";
import type { GraphQLSchema } from "graphql";
import { printSchema } from "portico/graphql";
import { describe, expect, it } from "vitest";
import { compileSnippets, pageSnippets } from "../../scripts/snippets/snippets.ts";
import { graphqlPages } from "../docs/graphql-pages.ts";
import { ask, userNamed } from "./ask.ts";

const root = resolve(import.meta.dirname, "../..");
const folder = join(root, ".cache/snippets/graphql-guide");
const snippets = graphqlPages.flatMap(pageSnippets);

interface Block {
  readonly page: string;
  readonly language: string;
  readonly text: string;
  readonly line: number;
}

/** The code blocks of the pages in their order. */
const blocks: readonly Block[] = graphqlPages.flatMap((page) => {
  const text = readFileSync(join(root, page), "utf8");
  return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map((match) => ({
    page,
    language: match[1] as string,
    text: match[2] as string,
    line: text.slice(0, match.index).split("\n").length + 1,
  }));
});

/** The file that `compileSnippets` wrote for a block. */
function fileOf({ page, text, line }: Block): string {
  const place = join(folder, page.replace(".md", "").replaceAll("/", "-"));
  return join(place, /^\/\/ ([\w.-]+\.ts)\n/.exec(text)?.[1] ?? `line-${line}.ts`);
}

async function load(block: Block): Promise<{ readonly default?: GraphQLSchema } & Record<string, unknown>> {
  const file = fileOf(block);
  if (/^\s*@\w+\(/m.test(block.text)) {
    const { code } = transformSync(block.text, { loader: "ts", target: "es2024" });
    writeFileSync(file.replace(".ts", ".js"), code);
    return (await import(pathToFileURL(file.replace(".ts", ".js")).href)) as never;
  }
  return (await import(pathToFileURL(file).href)) as never;
}

describe("the guide", () => {
  it("has snippets that type-check", async () => {
    expect(snippets).toHaveLength(blocks.filter(({ language }) => language === "ts").length);
    expect(await compileSnippets("graphql-guide", snippets)).toEqual([]);
  });

  it("has snippets that run and return the responses on the page", async () => {
    let schema: GraphQLSchema | undefined;
    const modules: unknown[] = [];
    const answers: [place: string, answer: unknown, promised: unknown][] = [];
    for (const [index, block] of blocks.entries()) {
      const place = `${block.page}:${block.line}`;
      if (block.language === "ts") {
        schema = (await load(block)).default;
        modules.push(schema);
      } else if (block.language === "graphql" && schema !== undefined) {
        const isText = block.text.startsWith("type ");
        const answer = isText ? printSchema(schema) : (await ask(schema, block.text, { user: userNamed("ada") })).data;
        answers.push([place, answer, isText ? block.text : JSON.parse(blocks[index + 1]?.text ?? "")]);
      }
    }

    expect(modules).toHaveLength(snippets.length);
    expect(answers).toHaveLength(blocks.filter(({ language }) => language === "graphql").length);
    expect(answers.map(([place, answer]) => [place, answer])).toEqual(
      answers.map(([place, , promised]) => [place, promised]),
    );
  });

  it("describes the side effects of its snippets correctly", async () => {
    const named = async (name: string): Promise<Record<string, unknown>> =>
      load(blocks.find(({ text }) => text.includes(`export const ${name}`)) as Block);

    expect((await named("log"))["log"]).toEqual(["begin", "commit"]);
    expect((await named("calls"))["calls"]).toEqual(["a1,a2"]);
    expect((await named("text"))["text"]).toContain(
      "type Query {\n  books(limit: Int! = 10): [Book!]!\n  version: String!\n}",
    );
  });
});
