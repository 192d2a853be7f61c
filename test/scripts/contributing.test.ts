import { existsSync, globSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { generators } from "../../lab/fuzz/generators.ts";
import { folders } from "../../lab/mutation/folders.ts";
import { faults } from "../../lab/soak/faults/faults.ts";
import { layers, layersInside, refusal } from "../../scripts/lint/layers.ts";
import { read, root } from "../../scripts/package/repository.ts";

const contributing = read("CONTRIBUTING.md");
const pages = { "CONTRIBUTING.md": contributing, "docs/architecture.md": read("docs/architecture.md") };
const { scripts } = JSON.parse(read("package.json")) as { readonly scripts: Readonly<Record<string, string>> };
const { exports } = JSON.parse(read("package.json")) as { readonly exports: Readonly<Record<string, unknown>> };

describe.each(Object.entries(pages))("the paths in %s", (_page, text) => {
  it("exist", () => {
    expect(pathsIn(text).length).toBeGreaterThan(40);
    expect(pathsIn(text).filter((path) => !isThere(path))).toEqual([]);
  });
});

it.each(["src/http/serve/server.ts", "test/no-such/", "graphql/limit/limits.ts"])("%s would be reported", (path) => {
  expect(pathsIn(`a page with \`${path}\` and \`@scope/name\``)).toEqual([path]);
  expect(isThere(path)).toBe(false);
});

describe("the commands in CONTRIBUTING.md", () => {
  const rows = [...contributing.matchAll(/^\| `(?:\w+=\S+ )?npm (?:run )?([\w:-]+)[^\w:-].*\|$/gm)];

  it("exist, and each script of package.json has its row", () => {
    const described = new Set([...contributing.matchAll(/npm (?:run )?([\w:-]+)/g)].map(([, name = ""]) => name));
    const named = [...contributing.matchAll(/npm run ([\w:-]+)/g)].map(([, name = ""]) => name);

    expect(named.filter((name) => name !== "setup" && !(name in scripts))).toEqual([]);
    expect(Object.keys(scripts).filter((name) => !name.startsWith("pre") && !described.has(name))).toEqual([]);
  });

  it("have the options of their rows", () => {
    const unknown = rows.flatMap(([row, name = ""]) => {
      const source = sourceOf(scripts[name] ?? "");
      const options = new Set([...row.matchAll(/`(?:npm run \S+ )?-- [^`]*`/g)].flatMap(([call]) => optionsOf(call)));
      return [...options].filter((option) => !new RegExp(`\\b${option}\\b`).test(source)).map((one) => [name, one]);
    });

    expect(rows.length).toBeGreaterThan(30);
    expect(unknown).toEqual([]);
  });

  it("read the environment variables that the page names", () => {
    const named = new Set([...contributing.matchAll(/\b(?:PORTICO_[A-Z0-9_]+|REDIS_URL)\b/g)].map(([name]) => name));
    const code = globSync("{scripts,lab,test}/**/*.ts", { cwd: root, exclude: ["**/node_modules/**"] })
      .concat("vitest.config.ts")
      .map((file) => read(file))
      .join("\n");

    expect(named.size).toBeGreaterThan(5);
    expect([...named].filter((name) => !code.includes(name))).toEqual([]);
  });
});

describe("the lists in CONTRIBUTING.md", () => {
  it("have every generator of the fuzzer, fault of the soak and folder of the mutation run", () => {
    expect(firstColumns("## Fuzzing")).toEqual(expect.arrayContaining(generators.map(({ name }) => name)));
    expect(new Set(firstColumns("### Faults"))).toEqual(new Set(faults.map(({ kind }) => kind)));
    const [, named = ""] = /^- `--folder auth` \(or ([^)]+)\)/m.exec(contributing) ?? [];
    expect(["auth", ...ticked(named)].toSorted()).toEqual(Object.keys(folders).toSorted());
  });

  it("describe every folder at the top of the repository that holds code", () => {
    const described = firstColumns("## Source tree").map((cell) => cell.replace(/\/.*$/, ""));
    const files = globSync("*/**/*.ts", {
      cwd: root,
      exclude: ["{node_modules,dist,coverage}/**", "**/node_modules/**"],
    });
    const present = new Set(files.map((file) => file.replace(/[/\\].*$/, "")));

    expect([...present].filter((folder) => !described.includes(folder))).toEqual([]);
  });

  it("name the kinds of test files that vitest.config.ts knows", () => {
    const config = read("vitest.config.ts");
    const kinds = [...contributing.matchAll(/^\| `x\.(?:(\w+)\.)?test\.ts` \|/gm)].map(([, kind = "plain"]) => kind);

    expect(kinds.toSorted()).toEqual([...config.matchAll(/name: "(\w+)"/g)].map(([, name = ""]) => name).toSorted());
  });
});

describe("the layers", () => {
  const inside = Object.entries(layersInside).flatMap(([folder, table]) =>
    Object.keys(table).map((name) => `${folder}${name}`),
  );
  const known = [...Object.keys(layers), ...inside];

  it("are those of folders that exist, and of all of them", () => {
    const present = globSync("src/*/{,*/}*.ts", { cwd: root })
      .map((file) => dirname(file).replaceAll("\\", "/").slice("src/".length))
      .filter((folder) => !folder.startsWith("types") && (!folder.includes("/") || isLayered(folder)));

    expect(known.filter((folder) => !existsSync(join(root, "src", folder)))).toEqual([]);
    expect([...new Set(present)].filter((folder) => !known.includes(folder))).toEqual([]);
  });

  it("let those folders import a package that CONTRIBUTING.md names, and no others", () => {
    const [, ofFastify = "", ofGraphQL = ""] =
      /only (`src\/.*?) may import Fastify, and only\s+(`src\/.*?) may import `graphql`/.exec(contributing) ?? [];
    const importing = (name: string): readonly string[] =>
      known.filter((folder) => refusal(`src/${folder}/a.ts`, name) === undefined);
    const below = (places: string): readonly string[] =>
      known.filter((folder) => ticked(places).some((place) => `src/${folder}/`.startsWith(place)));

    expect(importing("fastify")).toEqual(below(ofFastify));
    expect(importing("graphql")).toEqual(below(ofGraphQL));
  });
});

it("the entry points of Architecture are those of the package", () => {
  const named = [...pages["docs/architecture.md"].matchAll(/^\| (`portico[^|]*) \|/gm)].flatMap(([, cell = ""]) =>
    ticked(cell),
  );
  const present = Object.keys(exports).filter((path) => path !== "./package.json");

  expect(named.toSorted()).toEqual(present.map((path) => path.replace(/^\./, "portico")).toSorted());
});

it("most files of src have 40 to 200 lines", () => {
  const lengths = globSync("src/**/*.ts", { cwd: root }).map((file) => read(file).split("\n").length - 1);

  expect(lengths.filter((lines) => lines >= 40 && lines <= 200).length).toBeGreaterThan(lengths.length / 2);
  expect(lengths.filter((lines) => lines > 200).length).toBeLessThan(lengths.length / 10);
});

/** The paths of files and folders in code of the text. Those below `src/` may leave it out. */
function pathsIn(text: string): readonly string[] {
  const tables = text.replaceAll(/^\| \d+ \| .*$/gm, "");
  return [...new Set([...tables.matchAll(/`([\w.-]+(?:\/[\w.*{},-]+)+\/?)`/g)].map(([, path = ""]) => path))].filter(
    (path) => !/^(?:portico|origin|dist|coverage|\.cache)\//.test(path),
  );
}

function isThere(path: string): boolean {
  // Architecture names the files of a folder below a heading with the folder.
  return ["", "src/", "src/kernel/"].some((at) => globSync(`${at}${path}`, { cwd: root }).length > 0);
}

/** The code of a command: its file, and the folder of its parts. */
function sourceOf(command: string): string {
  const files = [...command.matchAll(/\b((?:lab|scripts)\/[\w/-]+)\.ts/g)].flatMap(([file, stem = ""]) => [
    file,
    ...globSync([`${stem}/**/*.ts`, "lab/bench/**/*.ts"], { cwd: root, exclude: ["**/node_modules/**"] }),
  ]);
  return [...files.map((file) => read(file)), command].join("\n");
}

function optionsOf(call: string): readonly string[] {
  return [...call.matchAll(/ --([a-z][\w-]*)/g)].map(([, option = ""]) => option);
}

function isLayered(folder: string): boolean {
  return `${folder.split("/", 1)[0]}/` in layersInside;
}

function ticked(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
}

/** The names in the first cells of the tables below a heading. */
function firstColumns(heading: string): readonly string[] {
  const section = contributing.split(`\n${heading}\n`)[1]?.split(/^#/m)[0] ?? "";
  return [...section.matchAll(/^\| (`[^|]*) \|/gm)].flatMap(([, cell = ""]) => ticked(cell));
}
