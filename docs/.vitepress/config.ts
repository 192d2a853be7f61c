import { readFileSync } from "node:fs";
import { type DefaultTheme, defineConfig, type UserConfig } from "vitepress";
import { anchorOf } from "./anchor-of.ts";
import { doorPages } from "./door-pages.ts";
import { sidebar } from "./navigation.ts";
import { repositoryLinks } from "./repository-links.ts";

const contents = readFileSync(new URL("../README.md", import.meta.url), "utf8");

const config: UserConfig<DefaultTheme.Config> = defineConfig({
  title: "Portico",
  description: "A TypeScript web framework in which GraphQL, authentication and pagination are one system",
  lang: "en",
  cleanUrls: true,
  // GitHub shows README.md as the front of the folder; the site has a start page for that.
  rewrites: { "README.md": "contents.md" },
  head: [["link", { rel: "icon", type: "image/svg+xml", href: "/portico.svg" }]],
  markdown: {
    // Links with a heading were written for GitHub, and are checked as such.
    anchor: { slugify: anchorOf },
    config: repositoryLinks,
    theme: { light: "github-light-high-contrast", dark: "github-dark" },
  },
  // For browsers of the last four years. The index of the search is one large file.
  vite: { build: { target: "es2022", chunkSizeWarningLimit: 2_000 } },
  themeConfig: {
    logo: "/portico.svg",
    nav: [
      { text: "Guide", link: "/guide/getting-started", activeMatch: "/guide/" },
      { text: "Reference", link: "/reference/app", activeMatch: "/reference/|/api/" },
      { text: "Contents", link: "/contents" },
    ],
    sidebar: [
      ...sidebar(contents),
      {
        text: "Exports by door",
        collapsed: true,
        items: doorPages().map(({ door, page }) => ({ text: door, link: `/api/${page}` })),
      },
    ],
    outline: [2, 3],
    search: { provider: "local" },
  },
});
export default config;
