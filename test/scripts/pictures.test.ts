import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { join, posix } from "node:path";
import { describe, expect, it } from "vitest";
import { FOLDER, fingerprint, INPUTS, type PictureName, RECORD } from "../../lab/pictures/inputs.ts";
import { filesBelow, read, root } from "../../scripts/package/repository.ts";

const MAX_BYTES = 80_000;
const PAGES = ["README.md", ...(await filesBelow("docs", ".md")), "examples/bookshop/README.md"];
const IMAGE =
  /<source media="\(prefers-color-scheme: dark\)" srcset="(?<dark>[^"]+)">\s*<img src="(?<light>[^"]+)" width="(?<width>\d+)" height="(?<height>\d+)" alt="(?<alt>[^"]*)">/g;

interface Shown {
  readonly page: string;
  readonly light: string;
  readonly dark: string;
  readonly size: string;
  readonly alt: string;
}

const shown: readonly Shown[] = PAGES.flatMap((page) =>
  [...read(page).matchAll(IMAGE)].map(({ groups = {} }) => {
    const { light = "", dark = "", width, height, alt = "" } = groups;
    const from = (path: string): string => posix.join(posix.dirname(page), path);
    return { page, light: from(light), dark: from(dark), size: `${width} x ${height}`, alt };
  }),
);

describe("the pictures of the pages", () => {
  it("are all written in the form that has a picture for each colour scheme, a size and words for it", () => {
    const written = PAGES.flatMap((page) => [...read(page).matchAll(/<picture>|<img /g)].map(() => page));

    expect(shown.length * 2).toBe(written.length);
    expect(shown.length).toBeGreaterThan(5);
  });

  it.each(shown)("$page: $light is there in both colour schemes, in its size", ({ light, dark, size, alt }) => {
    expect(light.replace("-light.", "-dark.")).toBe(dark);
    expect([light, dark].map((file) => existsSync(join(root, file)))).toEqual([true, true]);
    expect([light, dark].map(sizeOf)).toEqual([size, size]);
    expect(alt.split(" ").length).toBeGreaterThan(8);
  });

  it.each(Object.keys(INPUTS) as PictureName[])("%s was taken with the present state of its inputs", (name) => {
    const recorded = (JSON.parse(read(RECORD)) as Readonly<Record<string, string>>)[name];

    expect(recorded, `run npm run pictures -- ${name}, and look at it`).toBe(fingerprint(name));
    expect(shown.some(({ light }) => light === `${FOLDER}/${name}-light.webp`)).toBe(true);
  });

  it("are light, and no other file lies there", () => {
    const files = globSync(`${FOLDER}/*.webp`, { cwd: root }).toSorted();

    expect(files).toEqual(
      Object.keys(INPUTS)
        .flatMap((name) => ["dark", "light"].map((scheme) => `${FOLDER}/${name}-${scheme}.webp`))
        .toSorted(),
    );
    expect(files.filter((file) => statSync(join(root, file)).size > MAX_BYTES)).toEqual([]);
  });
});

/** The size of an extended WebP file: width and height less one, as numbers of 24 bits. */
function sizeOf(file: string): string {
  const bytes = readFileSync(join(root, file));
  expect(bytes.toString("latin1", 8, 16)).toBe("WEBPVP8X");
  return `${bytes.readUIntLE(24, 3) + 1} x ${bytes.readUIntLE(27, 3) + 1}`;
}
