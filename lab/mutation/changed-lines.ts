import { execFileSync } from "node:child_process";
import type { MutatedFile } from "./instrument.ts";

/** The files of `src/` that changed since a commit, with the lines that changed in them. */
export function changedLines(commit: string): readonly MutatedFile[] {
  const args = ["diff", "--unified=0", "--no-ext-diff", "--diff-filter=d", commit, "--", "src"];
  return rangesIn(execFileSync("git", args, { encoding: "utf8" }));
}

/** The added or changed lines in a diff without context. */
export function rangesIn(diff: string): readonly MutatedFile[] {
  const files: { readonly name: string; readonly lines: [number, number][] }[] = [];
  for (const line of diff.split("\n")) {
    if (line.startsWith("+++ b/")) files.push({ name: line.slice("+++ b/".length), lines: [] });
    const [, start, count = "1"] = /^@@ -\S+ \+(\d+)(?:,(\d+))? @@/.exec(line) ?? [];
    if (start === undefined || count === "0") continue;
    files.at(-1)?.lines.push([Number(start), Number(start) + Number(count) - 1]);
  }
  return files.filter(({ name, lines }) => name.endsWith(".ts") && lines.length > 0);
}
