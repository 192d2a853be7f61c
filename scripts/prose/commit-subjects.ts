import { execFileSync } from "node:child_process";
import { PATTERNS } from "./patterns.ts";

/** Subjects before the commit that added this file were written before there was a check. */
const THIS_FILE = "scripts/prose/commit-subjects.ts";
const MAX_LENGTH = 72;
/** Areas that name everything, and so nothing. */
const EMPTY_AREAS = new Set(["all", "misc", "portico", "update"]);
/** Verbs in the imperative that end as other forms do. */
const IMPERATIVES = /^(?:bring|embed|exceed|feed|need|seed|shed|speed|spring|string|swing|wing|ping|alias|bias)$/;

/** What a subject has against it. It is `area: imperative summary`. */
export function subjectFaults(subject: string): readonly string[] {
  const [, area, verb = ""] = /^([a-z0-9][a-z0-9-]*(?:, [a-z0-9-]+)*): ([a-z][\w'-]*)/.exec(subject) ?? [];
  const faults = PATTERNS.flatMap(({ words, instead }) =>
    (subject.match(words) ?? []).map((word) => `${word}: ${instead}`),
  );
  if (area === undefined) faults.push("write `area: imperative summary`");
  else if (EMPTY_AREAS.has(area)) faults.push(`name an area instead of "${area}"`);
  if (!IMPERATIVES.test(verb) && /(?:ed|ing|[^su]s)$/.test(verb))
    faults.push(`use the imperative instead of "${verb}"`);
  if (subject.length > MAX_LENGTH) faults.push(`use at most ${MAX_LENGTH} characters, not ${subject.length}`);
  if (subject.endsWith(".")) faults.push("leave out the full stop");
  return faults;
}

/**
 * The subjects of the commits since the one that added this check, newest first. In a shallow clone, the oldest commit seems to
 * add every file, so these are the others that the clone has, or its only one.
 *
 * @param git runs git and returns its output, or `null` if it fails
 */
export function newSubjects(git: (...args: readonly string[]) => string | null = runGit): readonly string[] {
  const lines = (...args: readonly string[]): readonly string[] => (git(...args) ?? "").split("\n").filter(Boolean);
  const starts = lines("log", "--diff-filter=A", "--format=%H", "--", THIS_FILE);
  const isAlone = starts.includes(lines("rev-parse", "HEAD")[0] ?? "");
  const range = isAlone ? ["-1", "HEAD"] : ["HEAD", "--not", ...starts];
  return starts.length === 0 ? [] : lines("log", "--no-merges", "--format=%s", ...range);
}

function runGit(...args: readonly string[]): string | null {
  try {
    return execFileSync("git", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  } catch {
    return null;
  }
}
