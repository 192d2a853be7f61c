import { basename } from "node:path";
import type { DefaultTheme } from "vitepress";
import { doorPages } from "./door-pages.ts";

type Sections = NonNullable<NonNullable<DefaultTheme.LocalSearchOptions["miniSearch"]>["_splitIntoSections"]>;
type Section = Exclude<Awaited<ReturnType<Sections>>, AsyncGenerator | Generator>[number];

/** The options of the search box. Without them, VitePress leaves out the pages that are made from the sources. */
export const search: DefaultTheme.LocalSearchOptions = {
  // Code is searched without its colours, and colouring it takes most of the time.
  _render(source, env, renderer) {
    const { highlight } = renderer.options;
    renderer.set({ highlight: null });
    try {
      // Words under which readers look for a section, which it doesn't use itself.
      const html = renderer.render(source.replaceAll(/<!-- search: (.*?) -->/g, "$1\n"), env);
      return env.frontmatter?.["search"] === false ? "" : html;
    } finally {
      renderer.set({ highlight: highlight ?? null });
    }
  },
  miniSearch: {
    // These run in browsers too, so they can't use what surrounds them.
    options: {
      processTerm: (term: string): string | string[] | null => {
        const word = term.toLowerCase();
        if (
          " a an and are as at be by can do does for from has have how i if in into is it its me my of on one or should so that the their them then there this to use used using was what when where which who why will with you your ".includes(
            ` ${word} `,
          )
        )
          return null;
        const others: Record<string, string | string[]> = {
          login: "sign",
          logged: "sign",
          logins: "sign",
          signin: "sign",
          logout: ["sign", "out"],
          signup: ["sign", "up"],
          frontend: ["front", "end"],
          columns: "column",
          queries: "query",
        };
        if (Object.hasOwn(others, word)) return others[word] as string | string[];
        if (word.length > 6 && word.endsWith("ing")) return word.slice(0, -3);
        return word.length > 3 && /[^su]s$/.test(word) ? word.slice(0, -1) : word;
      },
    },
    searchOptions: {
      // The name of an export leads to its entry, and every other word to the guide first.
      boostDocument: (id: unknown, term: string) => {
        const page = String(id);
        // A query has the name of several words, and not one of them. The last letter may be a plural s, which isn't in the term.
        const name = /#\w+[a-z][A-Z]\w+$/.exec(page)?.[0].slice(1).toLowerCase();
        if (page.includes("/api/")) return name === term || name === `${term}s` ? 2.5 : 0.3;
        // It repeats the guide for other readers.
        if (/\/(?:reference|errors|guide\/coding-agents)\b/.test(page)) return 0.5;
        if (/\/(?:coming-from|comparison)\b/.test(page)) return 0.7;
        return /\/(?:security|decisions|specification|dependencies|contents|architecture|performance)\b/.test(page)
          ? 0.3
          : 1;
      },
      // A word of the text counts as much as one of the title, and an exact one more than a similar one.
      boost: { title: 2, text: 2, titles: 1 },
      weights: { fuzzy: 0.05, prefix: 0.2 },
      fuzzy: (term: string) => (term.length > 4 ? 0.2 : false),
      prefix: (term: string) => term.length > 2,
    },
    // Without a result, VitePress splits the page itself.
    _splitIntoSections: ((file: string, html: string) =>
      /[\\/]docs[\\/]errors\.md$/.test(file) ? codesOf(html) : entriesOf(file)) as Sections,
  },
};

/** A section per error code, with the anchor of its row. */
function codesOf(html: string): Section[] {
  return [...html.matchAll(/<tr id="([A-Z0-9_]+)">([^]*?)<\/tr>/g)].map(([, code = "", row = ""]) => ({
    anchor: code,
    titles: ["Error codes", code],
    text: row.replaceAll(/<[^>]*>/g, " "),
  }));
}

/** An entry per exported name, with its doc comment. */
function entriesOf(file: string): Section[] | undefined {
  if (!/[\\/]docs[\\/]api[\\/]/.test(file)) return undefined;
  const found = doorPages().find(({ page }) => page === basename(file, ".md"));
  return found?.declarations.map(({ name, text }) => ({
    anchor: name,
    titles: [found.door, name],
    text: `${name} ${text}`,
  }));
}
