import { globSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");
const files = globSync("src/**/*.ts", { cwd: root }).filter((file) => !file.endsWith("/index.ts"));

interface Import {
  readonly from: string;
  readonly to: string;
  readonly isType: boolean;
}
const imports: readonly Import[] = files.flatMap((from) =>
  [...readFileSync(join(root, from), "utf8").matchAll(/^(?:import|export) (type )?([^;]*?)from "(\.[^"]+)";$/gm)].map(
    ([, type, names = "", path = ""]) => ({
      from,
      to: posix.join(posix.dirname(from), path),
      isType: type === "type " || /^\{(?:\s*type \w+(?: as \w+)?,?)+\s*\}\s*$/.test(names),
    }),
  ),
);

it("no file imports itself through values of other files", () => {
  expect(imports.length).toBeGreaterThan(3_000);
  expect(cyclesOf(imports.filter(({ isType }) => !isType))).toEqual([]);
});

it("few files import each other for types: accounts and their helpers, the context and gates, a type and its declaration", () => {
  const cycles = cyclesOf(imports);

  expect(cycles.map(([file]) => file?.split("/")[1] ?? "").toSorted()).toEqual(["auth", "graphql", "kernel"]);
  expect(Math.max(...cycles.map(({ length }) => length))).toBeLessThanOrEqual(8);
});

it("of the folders of src, only those of contexts and gates import each other", () => {
  const folderOf = (file: string): string => file.split("/").slice(1, -1).join("/");
  const between = imports.map((one) => ({ ...one, from: folderOf(one.from), to: folderOf(one.to) }));
  const cycles = cyclesOf(between).map((folders) => folders.toSorted().join(" "));

  expect(cycles).toEqual(["kernel/access kernel/context"]);
});

/** The groups of files or folders in which each reaches each other one, by the algorithm of Tarjan. */
function cyclesOf(edges: readonly Import[]): readonly (readonly string[])[] {
  const next = Map.groupBy(edges, ({ from }) => from);
  const numbers = new Map<string, number>();
  const stack: string[] = [];
  const groups: string[][] = [];
  const visit = (file: string): number => {
    const number = numbers.size;
    numbers.set(file, number);
    let lowest = number;
    stack.push(file);
    for (const { to } of next.get(file) ?? [])
      if (!numbers.has(to)) lowest = Math.min(lowest, visit(to));
      else if (stack.includes(to)) lowest = Math.min(lowest, numbers.get(to) as number);
    if (lowest === number) groups.push(stack.splice(stack.indexOf(file)));
    return lowest;
  };
  for (const start of next.keys()) if (!numbers.has(start)) visit(start);
  return groups.filter(({ length }) => length > 1);
}
