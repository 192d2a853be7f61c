import { readFileSync } from "node:fs";
import { createMarkdownRenderer } from "vitepress";
import { markdown } from "../markdown.ts";

interface Hero {
  readonly html: string;
}
declare const data: Hero;

export { data };

/** What the landing page shows first: a part of the README's first example, which CI compiles. */
const loader: { readonly watch: readonly string[]; load(files: readonly string[]): Promise<Hero> } = {
  watch: ["../../../README.md"],
  async load([readme = ""]: readonly string[]): Promise<Hero> {
    const code = /^const ownNotes = [\s\S]*?^export const built/m.exec(readFileSync(readme, "utf8"))?.[0] ?? "";
    const lines = code.split("\n").slice(0, -1);
    const renderer = await createMarkdownRenderer(".", markdown);
    return {
      html: renderer.render(["```sh", "npm create portico@latest", "```", "", "```ts", ...lines, "```"].join("\n")),
    };
  },
};
export default loader;
