import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { build } from "vitepress";

/** Some pages of the site, built and served as they will be published. */
export interface BuiltPages {
  readonly url: string;
  readonly close: () => Promise<void>;
}

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".webp": "image/webp",
  ".woff2": "font/woff2",
};

/** Builds pages of `docs/` into a folder, without the others, which takes a fraction of the time, and serves them. */
export async function builtPages(root: string, folder: string, pages: readonly string[]): Promise<BuiltPages> {
  await build(join(root, "docs"), {
    outDir: folder,
    onAfterConfigResolve(config) {
      config.pages = config.pages.filter((page) => pages.includes(page));
      // They lead to the pages that are left out. `npm run docs:build` follows all of them.
      config.ignoreDeadLinks = true;
      config.outDir = folder;
    },
  });
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? "/", "http://site").pathname;
    void (async () => {
      const names = [path, `${path}.html`, `${path}index.html`].map((name) => join(folder, name));
      const found = await Promise.all(names.map((name) => stat(name).catch(() => null)));
      const file = names.find((_, i) => found[i]?.isFile() === true);
      if (file === undefined) return response.writeHead(404).end();
      response.setHeader("content-type", TYPES[extname(file)] ?? "application/octet-stream");
      return createReadStream(file).pipe(response);
    })();
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => new Promise((closed) => server.close(() => closed())),
  };
}
