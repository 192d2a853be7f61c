import { readFileSync } from "node:fs";
import { join } from "node:path";
import { actsOnLoad } from "./acts-on-load.ts";
import { git } from "./git.ts";
import type { ChangedFile } from "./select-tests.ts";

/** The files that differ between a commit and the working tree. A new file counts as added even if Git does not track it yet. */
export function changedFiles(root: string, since: string): ChangedFile[] {
  const fields = git(root, "diff", "--name-status", "--no-renames", "-z", since).split("\0").slice(0, -1);
  const tracked = Object.entries(Object.groupBy(fields, (_field, index) => String(index - (index % 2))));
  const untracked = git(root, "ls-files", "--others", "--exclude-standard", "-z").split("\0").slice(0, -1);
  return [
    ...tracked.map(([, [status = "", path = ""] = []]) => changedFile(root, since, path, KINDS[status] ?? "changed")),
    ...untracked.map((path) => changedFile(root, since, path, "added")),
  ];
}

const KINDS: Readonly<Record<string, ChangedFile["kind"]>> = { A: "added", D: "removed" };

function changedFile(root: string, since: string, path: string, kind: ChangedFile["kind"]): ChangedFile {
  if (!/\.[cm]?[jt]sx?$/.test(path)) return { path, kind, actsOnLoad: false };
  const before = kind === "added" ? "" : git(root, "show", `${since}:${path}`);
  const after = kind === "removed" ? "" : readFileSync(join(root, path), "utf8");
  return { path, kind, actsOnLoad: actsOnLoad(before) || actsOnLoad(after) };
}
