import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { transformSync } from "esbuild";
import { expect, it } from "vitest";
import { builtPackage } from "../../../scripts/package/built-package.ts";
import { root } from "../../../scripts/package/repository.ts";

const MAX_BYTES = 30_000;
const FOLDERS = /^src\/(?:auth\/pages|http\/html|observe\/operations-page)\//;
/** GraphiQL and the API reference are programs of others, and every response needs the rules of `Accept`. */
const OTHERS =
  /^src\/(?:graphql\/ide\/|openapi\/|index\.ts|http\/html\/(?:accepts-encoding|brotli-to-gzip|parse-accept)\.ts)/;

const read = (file: string): string => readFileSync(join(root, file), "utf8");

/** The sources of sign-in, account, mails, errors, the access table and the operations page, wherever a new one is added. */
const pages = globSync("src/**/*.ts", { cwd: root })
  .map((file) => file.replaceAll("\\", "/"))
  .filter((file) => !OTHERS.test(file))
  .filter((file) => FOLDERS.test(file) || /\/(?:html-page|page-texts|page-style|escape-html)\.ts"/.test(read(file)));

it("the pages add at most 30 kB to the compressed package, their declarations included", () => {
  const code = pages.map((file) => transformSync(read(file), { loader: "ts" }).code);
  const declared = pages.map((file) => join("dist", file.replace(/^src\/(.*)\.ts$/, "$1.d.ts")));
  const types = globSync(declared, { cwd: builtPackage() }).map((file) =>
    readFileSync(join(builtPackage(), file), "utf8"),
  );
  const bytes = gzipSync([...code, ...types].join("\n")).length;

  expect(pages.length).toBeGreaterThan(25);
  expect(types.length).toBeGreaterThan(1);
  expect(bytes, `${bytes} bytes`).toBeLessThan(MAX_BYTES);
});

it("no source of a page names an address that a browser would load", () => {
  const loading =
    /(?:src|action|data)="https?:|url\(|@import|<iframe|href="https?:[^"]*\.(?:css|ico|js)|srcset="|fetch\("http/;
  const scripts = globSync("browser/**/*.{ts,css}", { cwd: root }).filter((file) => !file.includes("explorer"));

  for (const file of [...pages, ...scripts]) expect([file, loading.exec(read(file))?.[0]]).toEqual([file, undefined]);
});
