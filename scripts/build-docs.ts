import { readdir, readFile } from "node:fs/promises";
import { join, posix, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vitepress";

// npm run docs:build: builds the site of docs/ and follows every link in it, headings included.
const site = fileURLToPath(new URL("../docs/.vitepress/dist", import.meta.url));

await build(fileURLToPath(new URL("../docs", import.meta.url)));

const files = new Set(
  (await readdir(site, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => `/${relative(site, join(entry.parentPath, entry.name)).split(sep).join("/")}`),
);
const pages = new Map<string, string>();
for (const file of files) if (file.endsWith(".html")) pages.set(file, await readFile(join(site, file), "utf8"));

let links = 0;
const dead: string[] = [];
for (const [page, html] of pages)
  for (const [, target = ""] of html.matchAll(/<(?:a|link|script|img|source)\b[^>]*?\s(?:href|src)="([^"]*)"/g)) {
    if (/^(?:[a-z]+:|\/\/)/.test(target)) continue;
    links++;
    if (!leadsSomewhere(page, target)) dead.push(`${page}: ${target}`);
  }

for (const link of dead) console.error(`dead link in ${link}`);
console.log(`docs: ${pages.size} pages, ${links} links, ${dead.length} dead`);
process.exitCode = dead.length === 0 ? 0 : 1;

function leadsSomewhere(page: string, target: string): boolean {
  const [path = "", heading] = decodeURIComponent(target).split("#");
  const address = path === "" ? page : posix.resolve(posix.dirname(page), path);
  const file = [address, `${address}.html`, posix.join(address, "index.html")].find((name) => files.has(name));
  if (file === undefined) return false;
  return heading === undefined || heading === "" || (pages.get(file)?.includes(` id="${heading}"`) ?? false);
}
