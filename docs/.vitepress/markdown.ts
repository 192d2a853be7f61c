import type { MarkdownOptions } from "vitepress";
import { anchorOf } from "./anchor-of.ts";
import { errorAnchors } from "./error-anchors.ts";
import { packageManagers } from "./package-managers.ts";
import { pictures } from "./pictures.ts";
import { repositoryLinks } from "./repository-links.ts";
import { tableLabels } from "./table-labels.ts";

/** How the pages are rendered. VitePress keeps one renderer per process, so everything that renders passes these. */
export const markdown: MarkdownOptions = {
  // Links to headings use GitHub's slugs, and a test checks them as such.
  anchor: { slugify: anchorOf },
  config(renderer) {
    repositoryLinks(renderer);
    errorAnchors(renderer);
    pictures(renderer);
    packageManagers(renderer);
    tableLabels(renderer);
  },
  container: { noteLabel: "Note", warningLabel: "Warning" },
  theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
};
