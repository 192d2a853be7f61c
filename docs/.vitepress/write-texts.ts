import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { read } from "./doors.ts";

const LINK = /\]\((?<page>[^):#]+\.md)\)/g;
const SUMMARY = "> The TypeScript API framework with GraphQL, authentication and pagination built in";

/**
 * Writes the documentation for readers that are programs: `llms.txt` lists the pages, and `llms-full.txt` contains those
 * of the guide, the recipes and the reference.
 */
export async function writeTexts(folder: string, contents: string): Promise<void> {
  await writeFile(join(folder, "llms.txt"), listOf(contents));
  await writeFile(join(folder, "llms-full.txt"), fullText(contents));
}

/** The table of contents, with a title and a summary first, as https://llmstxt.org describes. */
export function listOf(contents: string): string {
  return contents
    .replace(/^# .*$/m, `# Portico\n\n${SUMMARY}`)
    .replaceAll(LINK, (_match, page: string) => `](/${page.replace(/\.md$/, "")})`);
}

/** The README and every page of the guide, the recipes and the reference, in the order of the table of contents. */
export function fullText(contents: string): string {
  const pages = [...contents.matchAll(LINK)].map(({ groups }) => groups?.["page"] ?? "");
  const wanted = new Set(pages.filter((page) => /^(?:guide|deployment|recipes|reference)\/|^errors/.test(page)));
  return [read("README.md"), ...[...wanted].map((page) => read(`docs/${page}`))].join("\n\n");
}
