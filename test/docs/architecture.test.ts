import { existsSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { describe, expect, it } from "vitest";
import { type Layers, layers, layersInside } from "../../scripts/lint/layers.ts";

const source = join(import.meta.dirname, "../../src");
const page = readFileSync(join(import.meta.dirname, "../../docs/architecture.md"), "utf8");

describe.each([
  ["Folders", layers],
  ...Object.entries(layersInside).map(([folder, inside]) => [`\`${folder}\``, inside]),
] as [string, Layers][])("the table of %s in Architecture", (heading, table) => {
  it("has every folder that lint knows, with the folders that it may import", () => {
    expect(rowsBelow(heading)).toEqual(
      Object.fromEntries(Object.entries(table).map(([folder, allowed]) => [folder, inWords(allowed)])),
    );
  });
});

describe.each(["The path of a query", "The path of an event"])("%s in Architecture", (heading) => {
  const files = filesBelow(heading);
  const folders = files.map(layerOf);

  it("is short enough to be read", () => {
    expect(files.length).toBeGreaterThan(10);
    expect(files.length).toBeLessThanOrEqual(25);
    expect(new Set(folders).size).toBeLessThanOrEqual(12);
  });

  it("goes from the engine to the response, through files that exist", () => {
    expect([folders[0], folders.at(-1)]).toEqual(["http/engine", "graphql/respond"]);
    expect(files.filter((file) => !existsSync(join(source, file)))).toEqual([]);
  });

  it("follows the imports", () => {
    const steps = files.slice(1).map((file, index) => [files[index] ?? "", file] as const);
    const gaps = steps.filter(([from, to]) => !importsOf(from).includes(to) && !importsOf(to).includes(from));
    expect(gaps).toEqual([]);
  });

  it("enters no folder twice", () => {
    const entered = folders.filter((folder, index) => folder !== folders[index - 1]);
    expect(entered).toEqual([...new Set(entered)]);
  });
});

describe("the types of an operation in Architecture", () => {
  it("are exported by the files of the path, in this order", () => {
    const section = sectionBelow("The path of a query");
    const types = [...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, type = ""]) => type);
    const exports = filesBelow("The path of a query").map((file) => readFileSync(join(source, file), "utf8"));
    const places = types.map((type) => exports.findIndex((text) => text.includes(`export interface ${type} {`)));
    expect(types.length).toBeGreaterThan(5);
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  });
});

/** The files of the numbered list below a heading. */
function filesBelow(heading: string): readonly string[] {
  return [...sectionBelow(heading).matchAll(/^\d+\. `([^`]+\.ts)` /gm)].map(([, file = ""]) => file);
}

function sectionBelow(heading: string): string {
  return page.split(`\n## ${heading}\n`)[1]?.split("\n## ")[0] ?? "";
}

/** The folder of a file that has a layer. */
function layerOf(file: string): string {
  const [folder = "", inside = ""] = file.split("/");
  return `${folder}/` in layersInside ? `${folder}/${inside}` : folder;
}

function importsOf(file: string): readonly string[] {
  const path = join(source, file);
  if (!existsSync(path)) return [];
  return [...readFileSync(path, "utf8").matchAll(/ from "(\.[^"]+)"/g)].map(([, target = ""]) =>
    posix.join(posix.dirname(file), target),
  );
}

function inWords(allowed: Layers[string]): string {
  if (allowed === "anything") return "anything";
  return allowed?.join(", ") || "no other folder";
}

/** The folders of the first table below a heading, and what they may import. */
function rowsBelow(heading: string): Record<string, string> {
  const section = page.split(new RegExp(`^#+ ${heading}$`, "m"))[1] ?? "";
  const rows = section.matchAll(/^\| \d+ \| ([^|]+) \| ([^|]+) \|/gm);
  const end = section.search(/^#/m);
  const folders = [...rows]
    .filter(({ index }) => end === -1 || index < end)
    .flatMap(([, names = "", allowed = ""]) =>
      [...names.matchAll(/`([\w-]+)\/`/g)].map(([, folder = ""]) => [folder, allowed.trim()]),
    );
  return Object.fromEntries(folders) as Record<string, string>;
}
