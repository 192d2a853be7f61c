import MiniSearch, { type SearchOptions } from "minisearch";
import { createServer } from "vitepress";
import { search } from "../../docs/.vitepress/search.ts";

// The options of VitePress' search box.
const FIELDS = { fields: ["title", "titles", "text"], storeFields: ["title", "titles"] };
const RANKING = {
  fuzzy: 0.2,
  prefix: true,
  boost: { title: 4, text: 2, titles: 1 },
  ...(search.miniSearch?.searchOptions as SearchOptions),
};

export interface SiteSearch {
  /** Returns the addresses of the sections, the best match first. */
  readonly search: (term: string) => readonly string[];
  readonly close: () => Promise<void>;
}

/** Searches the site as its search box does. */
export async function siteSearch(): Promise<SiteSearch> {
  const server = await createServer("docs", { middlewareMode: true, hmr: false, watch: null });
  const loaded = await server.pluginContainer.load("/@localSearchIndexroot");
  // The module is a text of JSON, written as a literal.
  const literal = (loaded as string).replace("export default ", "");
  const index = MiniSearch.loadJSON(JSON.parse(literal) as string, {
    ...FIELDS,
    ...search.miniSearch?.options,
    searchOptions: RANKING,
  });
  return { search: (term) => index.search(term).map(({ id }) => String(id)), close: () => server.close() };
}
