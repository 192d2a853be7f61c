import { readFileSync } from "node:fs";
import { type DefaultTheme, defineConfig, type UserConfig } from "vitepress";
import { anchorOf } from "./anchor-of.ts";
import { doorPages } from "./door-pages.ts";
import { sidebar } from "./navigation.ts";
import { repositoryLinks } from "./repository-links.ts";

const contents = readFileSync(new URL("../README.md", import.meta.url), "utf8");

const config: UserConfig<DefaultTheme.Config> = defineConfig({
  title: "Portico",
  description: "The TypeScript API framework with GraphQL, authentication and pagination built in",
  lang: "en",
  cleanUrls: true,
  // GitHub shows README.md as the folder's landing page; the site has its own.
  rewrites: { "README.md": "contents.md" },
  head: [["link", { rel: "icon", type: "image/svg+xml", href: "/portico.svg" }]],
  markdown: {
    // Links to headings use GitHub's slugs, and a test checks them as such.
    anchor: { slugify: anchorOf },
    config: repositoryLinks,
    theme: { light: "github-light-high-contrast", dark: "github-dark" },
  },
  // The build targets browsers from the last four years. The search index is one large file.
  vite: {
    build: { target: "es2022", chunkSizeWarningLimit: 2_000 },
    optimizeDeps: { esbuildOptions: { target: "es2022" } },
  },
  themeConfig: {
    logo: "/portico.svg",
    nav: [
      { text: "Guide", link: "/guide/quick-start", activeMatch: "/guide/" },
      { text: "Reference", link: "/reference/app", activeMatch: "/reference/|/api/" },
      { text: "Contents", link: "/contents" },
    ],
    sidebar: [
      ...sidebar(contents),
      {
        text: "Exports by entry point",
        collapsed: true,
        items: doorPages().map(({ door, page }) => ({ text: door, link: `/api/${page}` })),
      },
    ],
    outline: [2, 3],
    search: { provider: "local" },
  },
});
export default config;
