import type { MarkdownRenderer } from "vitepress";

const CODE = /^[A-Z][A-Z0-9_]+$/;

/** Gives each row of the table in `errors.md` an anchor, which its code links to: `errors#RATE_LIMITED`. */
export function errorAnchors(markdown: MarkdownRenderer): void {
  markdown.core.ruler.after("inline", "error-anchors", ({ tokens, env, Token }) => {
    if ((env as { readonly relativePath?: string }).relativePath !== "errors.md") return;
    for (const [i, token] of tokens.entries()) {
      const [code, ...others] = token.children ?? [];
      if (tokens[i - 2]?.type !== "tr_open" || code?.type !== "code_inline" || others.length > 0) continue;
      if (!CODE.test(code.content)) continue;
      tokens[i - 2]?.attrSet("id", code.content);
      const open = Object.assign(new Token("link_open", "a", 1), { attrs: [["href", `#${code.content}`]] });
      token.children = [open, code, new Token("link_close", "a", -1)];
    }
  });
}
