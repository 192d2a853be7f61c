import type { MarkdownRenderer } from "vitepress";

/**
 * Shows a picture in the colours of the page. GitHub chooses the source of a `<picture>` by the system of the reader, but the
 * site has its own switch, so here both are in the page and the style sheet hides one.
 */
export function pictures(renderer: MarkdownRenderer): void {
  const render = renderer.renderer.rules.html_block;
  renderer.renderer.rules.html_block = (tokens, index, ...rest) => {
    const html = render?.(tokens, index, ...rest) ?? tokens[index]?.content ?? "";
    return html.replaceAll(PICTURE, (_, dark: string, image: string) => {
      const lazy = image.replace("<img", '<img loading="lazy"');
      return `${lazy.replace("<img", '<img class="in-light"')}${lazy
        .replace("<img", '<img class="in-dark"')
        .replace(/src="[^"]*"/, `src="${dark}"`)}`;
    });
  };
}

const PICTURE =
  /<picture>\s*<source media="\(prefers-color-scheme: dark\)" srcset="([^"]+)">\s*(<img [^>]+>)\s*<\/picture>/g;
