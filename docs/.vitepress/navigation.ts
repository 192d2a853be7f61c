import type { DefaultTheme } from "vitepress";

const HEADING = /^(?<level>#{2,3}) (?<title>.+)$/;
const ENTRY = /^(?:\|\s*|(?<indent>\s*)(?:\d+\.|-) )\[(?<text>[^\]]+)\]\((?<link>[^):]+)\.md\)/;

interface Group {
  readonly text: string;
  readonly items: DefaultTheme.SidebarItem[];
}

/**
 * The sidebar, in the order of the table of contents: a group per heading, with what its list or its table links to.
 * An indented entry belongs to the one above it.
 */
export function sidebar(contents: string): DefaultTheme.SidebarItem[] {
  const groups: Group[] = [];
  for (const line of contents.split("\n")) {
    const title = HEADING.exec(line)?.groups?.["title"];
    if (title !== undefined) groups.push({ text: title, items: [] });
    const entry = ENTRY.exec(line)?.groups;
    const items = groups.at(-1)?.items;
    if (entry === undefined || items === undefined) continue;
    const item: DefaultTheme.SidebarItem = { text: entry["text"] ?? "", link: `/${entry["link"]}` };
    const above = entry["indent"] ? items.at(-1) : undefined;
    if (above === undefined) items.push(item);
    else above.items = [...(above.items ?? []), item];
  }
  return groups.filter(({ items }) => items.length > 0);
}

/**
 * The sidebar of each section, which is a second-level heading of the table of contents, by the folders and pages that it
 * links to. `more` belongs to the section Reference.
 */
export function sidebars(contents: string, more: DefaultTheme.SidebarItem): DefaultTheme.SidebarMulti {
  const found: DefaultTheme.SidebarMulti = {};
  for (const section of contents.split(/^(?=## )/m).slice(1)) {
    const groups = sidebar(section);
    if (section.startsWith("## Reference")) groups.push(more);
    for (const link of linksOf(groups)) {
      const folder = /^\/[^/]+\//.exec(link)?.[0];
      found[folder ?? link] ??= groups;
    }
  }
  return found;
}

function linksOf(items: readonly DefaultTheme.SidebarItem[]): readonly string[] {
  return items.flatMap(({ link, items: below = [] }) => [...(link === undefined ? [] : [link]), ...linksOf(below)]);
}
