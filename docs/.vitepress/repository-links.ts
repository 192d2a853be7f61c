import { posix } from "node:path";
import type { MarkdownRenderer } from "vitepress";
import { read } from "./doors.ts";

type State = Parameters<Parameters<MarkdownRenderer["core"]["ruler"]["push"]>[1]>[0];
type Token = State["tokens"][number];

const PUBLIC = "docs/public/";

/**
 * Files of the repository outside `docs/` are not pages of the site. A source file that has a paragraph for itself is shown
 * below its name, as it stands when the site is built; of every other link to such files the text stays.
 */
export function repositoryLinks(markdown: MarkdownRenderer): void {
  markdown.core.ruler.after("inline", "repository-links", (state) => {
    const page = `docs/${(state.env as { readonly relativePath?: string }).relativePath ?? ""}`;
    state.tokens = state.tokens.flatMap((token, i, all) => {
      for (const child of token.children ?? []) servePublicFile(page, child);
      const outside = (token.children ?? []).map((child) => fileOutside(page, child));
      token.meta = { ...token.meta, file: token.children?.length === 3 ? outside[0] : undefined };
      for (const [at, file] of outside.entries()) if (file !== undefined) removeLink(token.children ?? [], at);
      const alone =
        token.type === "paragraph_close" ? (all[i - 1]?.meta as { file?: string } | undefined)?.file : undefined;
      return alone?.endsWith(".ts") ? [token, codeOf(state, alone)] : [token];
    });
  });
}

/** The site serves the files of `docs/public/` from its root. */
function servePublicFile(page: string, token: Token): void {
  const file = linkedFile(page, token);
  if (file?.startsWith(PUBLIC)) token.attrSet("href", file.slice(PUBLIC.length - 1));
}

/** The path from the root of the repository, if the link leaves `docs/`. */
function fileOutside(page: string, token: Token): string | undefined {
  const file = linkedFile(page, token);
  return file?.startsWith("docs/") ? undefined : file;
}

/** The path from the root of the repository that a relative link leads to. */
function linkedFile(page: string, token: Token): string | undefined {
  const target = token.type === "link_open" ? (token.attrGet("href") ?? "") : "";
  return target === "" || /^(?:[a-z]+:|[/#])/.test(target) ? undefined : posix.join(posix.dirname(page), target);
}

function removeLink(tokens: readonly Token[], at: number): void {
  const open = tokens[at];
  const close = tokens.slice(at).find(({ type, level }) => type === "link_close" && level === open?.level);
  for (const half of [open, close]) Object.assign(half ?? {}, { tag: "span", attrs: null });
}

function codeOf({ Token }: State, file: string): Token {
  return Object.assign(new Token("fence", "code", 0), { info: "ts", content: read(file), markup: "```", block: true });
}
