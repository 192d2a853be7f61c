import { readFileSync } from "node:fs";
import { type DefaultTheme, defineConfig, type UserConfig } from "vitepress";
import { doorPages } from "./door-pages.ts";
import { markdown } from "./markdown.ts";
import { sidebars } from "./navigation.ts";
import { search } from "./search.ts";
import { writeTexts } from "./write-texts.ts";

const contents = readFileSync(new URL("../README.md", import.meta.url), "utf8");

const DESCRIPTION = "The TypeScript API framework with GraphQL, authentication and pagination built in";
const ABOUT =
  "^/(architecture|why-portico|comparison|performance|known-limitations|support-policy|upgrading|errors|dependencies|faq|glossary|specification|decisions)";
// GitHub sets the first. The second is where the site is published.
const { GITHUB_REPOSITORY: repository, DOCS_URL: published } = process.env;

const config: UserConfig<DefaultTheme.Config> = defineConfig({
  title: "Portico",
  description: DESCRIPTION,
  lang: "en",
  cleanUrls: true,
  // GitHub shows README.md as the folder's landing page; the site has its own.
  rewrites: { "README.md": "contents.md" },
  head: [["link", { rel: "icon", type: "image/svg+xml", href: "/portico.svg" }]],
  markdown,
  ...(published === undefined ? {} : { sitemap: { hostname: published } }),
  transformPageData(page) {
    const title = page.frontmatter["layout"] === "home" ? "Portico" : `${page.title} | Portico`;
    page.frontmatter["head"] = [
      ["meta", { property: "og:type", content: "website" }],
      ["meta", { property: "og:title", content: title }],
      ["meta", { property: "og:description", content: page.description || DESCRIPTION }],
    ];
    // A page of its own look: see theme/portico.css.
    if (page.relativePath === "errors.md") Object.assign(page.frontmatter, { pageClass: "error-codes", aside: false });
  },
  buildEnd: ({ outDir }) => writeTexts(outDir, contents),
  // The build targets browsers from the last four years. The search index is one large file. Pictures stay files, because the
  // style sheet tells them apart by their names.
  vite: {
    build: { target: "es2022", chunkSizeWarningLimit: 2_000, assetsInlineLimit: 0 },
    optimizeDeps: { esbuildOptions: { target: "es2022" } },
  },
  themeConfig: {
    logo: "/portico.svg",
    nav: [
      { text: "Guide", link: "/guide/quick-start", activeMatch: "/guide/|/deployment/" },
      { text: "Recipes", link: "/recipes/jobs", activeMatch: "/recipes/" },
      { text: "Reference", link: "/reference/app", activeMatch: "/reference/|/api/" },
      { text: "About", link: "/architecture", activeMatch: ABOUT },
      { text: "Contents", link: "/contents" },
    ],
    sidebar: sidebars(contents, {
      text: "Exports by entry point",
      collapsed: true,
      items: doorPages().map(({ door, page }) => ({ text: door, link: `/api/${page}` })),
    }),
    outline: [2, 3],
    search: { provider: "local", options: search },
    ...(repository === undefined
      ? {}
      : {
          editLink: { pattern: `https://github.com/${repository}/edit/main/docs/:path` },
          socialLinks: [{ icon: "github", link: `https://github.com/${repository}` }],
        }),
  },
});
export default config;
