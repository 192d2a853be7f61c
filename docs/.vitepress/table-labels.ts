import type { MarkdownRenderer } from "vitepress";

const MIN_COLUMNS = 3;

/**
 * Gives the cells of wide tables the heading of their column. On a phone, the style sheet shows each row as a paragraph with these
 * labels, so that no such table scrolls sideways.
 */
export function tableLabels(renderer: MarkdownRenderer): void {
  renderer.core.ruler.after("inline", "table-labels", ({ tokens }) => {
    let labels: string[] = [];
    let column = 0;
    for (const [i, token] of tokens.entries()) {
      if (token.type === "table_open") labels = [];
      if (token.type === "tr_open") column = 0;
      if (token.type === "th_open") labels.push(tokens[i + 1]?.content.replaceAll(/[`*]/g, "") ?? "");
      if (token.type === "td_open" && labels.length >= MIN_COLUMNS) token.attrSet("data-label", labels[column++] ?? "");
    }
  });
}
