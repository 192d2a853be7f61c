import { readdirSync } from "node:fs";
import { read } from "./doors.ts";

interface Page {
  readonly title: string;
  readonly link: string;
  /** The text in backticks, and the imports of the examples. */
  readonly spans: readonly string[];
  /** The page of the guide that it links to first. */
  readonly firstGuide: string | undefined;
}

const folders = new Map<string, readonly Page[]>();

/**
 * Links to the page of the reference and to the page of the guide that name an export most often. If the guide does not
 * name it, the page of the reference decides.
 */
export function pagesAbout(name: string): readonly string[] {
  const reference = pageNaming(name, pagesOf("reference"));
  const guide =
    pageNaming(name, pagesOf("guide")) ?? pagesOf("guide").find(({ link }) => link === reference?.firstGuide);
  return [reference, guide].flatMap((page) => (page === undefined ? [] : [`[${page.title}](${page.link})`]));
}

function pageNaming(name: string, pages: readonly Page[]): Page | undefined {
  const word = new RegExp(`(?<![\\w$.])${name.replaceAll("$", "\\$")}(?![\\w$])`);
  const counted = pages
    .map((page) => ({ page, times: page.spans.filter((span) => word.test(span)).length }))
    .filter(({ times }) => times > 0)
    // The page of helper types names everything else only in passing.
    .toSorted((a, b) => Number(isHelpers(a.page)) - Number(isHelpers(b.page)) || b.times - a.times);
  return counted[0]?.page;
}

function isHelpers({ link }: Page): boolean {
  return link === "/reference/types";
}

function pagesOf(folder: string): readonly Page[] {
  const known = folders.get(folder);
  if (known !== undefined) return known;
  const names = readdirSync(new URL(`../${folder}/`, import.meta.url)).filter((file) => file.endsWith(".md"));
  const pages = names.toSorted().map((file) => {
    const text = read(`docs/${folder}/${file}`);
    return {
      title: `${/^# (.+)$/m.exec(text)?.[1] ?? file} (${folder})`,
      link: `/${folder}/${file.replace(/\.md$/, "")}`,
      spans: [
        ...(text.replace(/^```.*?^```/gms, "").match(/`[^`\n]+`/g) ?? []),
        ...(text.match(/^import .* from "portico.*"/gm) ?? []),
      ],
      firstGuide: /\]\(\.\.(\/guide\/[\w-]+)\.md/.exec(text)?.[1],
    };
  });
  folders.set(folder, pages);
  return pages;
}
