import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");

const page = readFileSync(join(root, "CONTRIBUTING.md"), "utf8");

it("each folder of test/ has the name of one in src/, or a row in CONTRIBUTING.md", () => {
  const described = new Set(
    [...page.matchAll(/^\| (`test\/.*?) \|/gm)].flatMap(([, cell = ""]) =>
      [...cell.matchAll(/`test\/([\w-]+)\/`/g)].map(([, folder = ""]) => folder),
    ),
  );
  const folders = new Set(
    globSync("test/*/**/*.test{,-d}.ts", { cwd: root }).map((file) => file.split(/[/\\]/)[1] ?? ""),
  );

  const unexpected = [...folders].filter((folder) => !existsSync(join(root, "src", folder)) && !described.has(folder));

  expect(unexpected).toEqual([]);
  expect([...described].filter((folder) => !folders.has(folder))).toEqual([]);
});

it("so does each folder in one of these", () => {
  const described = new Set(
    [...page.matchAll(/`test\/([\w-]+)\/\{([\w,-]+)\}\/`/g)].flatMap(([, folder = "", subjects = ""]) =>
      subjects.split(",").map((subject) => `${folder}/${subject}`),
    ),
  );
  const folders = new Set(
    globSync("test/*/*/**/*.test{,-d}.ts", { cwd: root })
      .map((file) => file.split(/[/\\]/).slice(1, 3).join("/"))
      .filter((folder) => existsSync(join(root, "src", folder.split("/", 1)[0] ?? ""))),
  );

  const unexpected = [...folders].filter((folder) => !existsSync(join(root, "src", folder)) && !described.has(folder));

  expect(folders.size).toBeGreaterThan(30);
  expect(unexpected).toEqual([]);
  expect([...described].filter((folder) => !folders.has(folder))).toEqual([]);
});
