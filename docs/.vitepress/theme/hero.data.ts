import { readFileSync } from "node:fs";
import { createMarkdownRenderer } from "vitepress";
import { markdown } from "../markdown.ts";

interface Hero {
  readonly html: string;
}
declare const data: Hero;

export { data };

/** The first sample of the landing page: a part of an application that the tests run. */
const loader: { readonly watch: readonly string[]; load(files: readonly string[]): Promise<Hero> } = {
  watch: ["../../../examples/one-rule/app.ts"],
  async load([file = ""]: readonly string[]): Promise<Hero> {
    const code = /\/\/ #region rule\n([^]*?)\n\/\/ #endregion/.exec(readFileSync(file, "utf8"))?.[1] ?? "";
    const renderer = await createMarkdownRenderer(".", markdown);
    const start = ["npm create portico@latest my-api", "cd my-api", "npm run dev"];
    return { html: renderer.render(["```bash", ...start, "```", "", "```ts", code, "```"].join("\n")) };
  },
};
export default loader;
