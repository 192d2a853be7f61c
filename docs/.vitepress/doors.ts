import { readFileSync } from "node:fs";
import { posix } from "node:path";
import manifest from "../../package.json" with { type: "json" };

/** The source file behind each entry point of the package. */
export const doors: readonly (readonly [door: string, file: string])[] = Object.entries(manifest.exports).flatMap(
  ([door, target]) =>
    typeof target === "string"
      ? []
      : [[door.replace(/^\./, "portico"), target.default.replace(/^\.\/dist\/(.*)\.js$/, "src/$1.ts")] as const],
);

/** The text of a file of the repository, by its path from the root. */
export function read(file: string): string {
  return readFileSync(new URL(`../../${file}`, import.meta.url), "utf8");
}

const LIST = /^export (?:type )?\{(?<names>[^}]*)\}/gm;
const STAR = /^export (?<type>type )?\* from "(?<from>[^"]+)"/gm;
const TYPE = /^export (?:declare )?(?:abstract )?(?:interface|type|class|enum) (?<name>\w+)/gm;
const VALUE = /^export (?:async )?(?:function\*?|const|let) (?<name>\w+)/gm;

/** The names that a file exports, types among them, by its text; what it passes on whole is followed. */
export function exportedNames(file: string): readonly string[] {
  const source = read(file);
  const listed = [...source.matchAll(LIST)].flatMap(({ groups }) =>
    (groups?.["names"] ?? "")
      .split(",")
      .map((name) =>
        name
          .trim()
          .replace(/^type /, "")
          .replace(/^.* as /, ""),
      )
      .filter((name) => name !== ""),
  );
  const passedOn = [...source.matchAll(STAR)].flatMap(({ groups }) => {
    const from = posix.normalize(posix.join(posix.dirname(file), groups?.["from"] ?? ""));
    // Functions that are exported only as types are not for users.
    return groups?.["type"] === undefined ? exportedNames(from) : declared(read(from), TYPE);
  });
  return [...new Set([...listed, ...passedOn, ...declared(source, TYPE), ...declared(source, VALUE)])].toSorted();
}

function declared(source: string, pattern: RegExp): readonly string[] {
  return [...source.matchAll(pattern)].map(({ groups }) => groups?.["name"] ?? "");
}
