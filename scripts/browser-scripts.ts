import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { build } from "esbuild";

// npm run browser: writes the scripts and the styles of browser/ as modules of src/, one string each, so that a page also has them in an
// application that is bundled into one file. --check compares them instead.

const root = resolve(import.meta.dirname, "..");
const modules = [
  { entry: "browser/styles/pages.css", file: "src/http/html/page-style.ts", name: "PAGE_STYLE" },
  { entry: "browser/account-pages/main.ts", file: "src/auth/pages/page-script.ts", name: "PAGE_SCRIPT" },
  { entry: "browser/explorer/main.ts", file: "src/graphql/ide/cdn-script.ts", name: "CDN_SCRIPT" },
  {
    entry: "browser/operations-page/main.ts",
    file: "src/observe/operations-page/operations-script.ts",
    name: "OPERATIONS_SCRIPT",
  },
];

if (import.meta.main) {
  for (const { entry, file, name } of modules) {
    const module = `/** Made from \`${entry}\` by \`npm run browser\`. */
export const ${name}: string =
  ${literal(await bundled(entry))};
`;
    const path = resolve(root, file);
    if (!process.argv.includes("--check")) writeFileSync(path, module);
    else if (readFileSync(path, "utf8") !== module) {
      console.error(`run "npm run browser": ${file} differs from ${entry}`);
      process.exitCode = 1;
    }
  }
}

async function bundled(entry: string): Promise<string> {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: "es2023",
    // package.json says of the modules of the server that they do nothing on their own.
    ignoreAnnotations: true,
  });
  return outputFiles[0]?.text.trim() ?? "";
}

/** Single quotes, as the formatter prefers where a text has more double ones. */
function literal(text: string): string {
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}
