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
      const html = renderer.render(source, env);
      return env.frontmatter?.["search"] === false ? "" : html;
    } finally {
      renderer.set({ highlight: highlight ?? null });
    }
  },
  miniSearch: {
    searchOptions: {
      // The name of an export leads to its entry, and every other word to the guide first. It runs in browsers too.
      boostDocument: (id: unknown) => (String(id).includes("/api/") ? 0.4 : 1),
    },
    // Without a result, VitePress splits the page itself.
    _splitIntoSections: ((file: string) => entriesOf(file)) as Sections,
  },
};

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
