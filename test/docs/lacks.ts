import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../scripts/package/repository.ts";

const MARK = /<!-- lack: (?<id>[\w-]+) -->/g;

/** The places where pages say that a feature is missing, as `docs/faq.md:12`, by its id. */
export function citedLacks(): ReadonlyMap<string, readonly string[]> {
  const cited = new Map<string, string[]>();
  for (const page of globSync(["README.md", "SECURITY.md", "docs/**/*.md", "packages/*/README.md"], { cwd: root }))
    for (const [at, line] of readFileSync(join(root, page), "utf8").split("\n").entries())
      for (const { groups } of line.matchAll(MARK)) {
        const id = groups?.["id"] ?? "";
        cited.set(id, [...(cited.get(id) ?? []), `${page}:${at + 1}`]);
      }
  return cited;
}

/** The places that are no longer true, because a feature exists that they call missing. A test expects none. */
export function outdatedPlaces(id: string, exists: boolean): readonly string[] {
  return exists ? (citedLacks().get(id) ?? []).map((place) => `${place} says that Portico lacks ${id}`) : [];
}
