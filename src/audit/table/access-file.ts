import { type EntryKind, entryKinds } from "../surface/access-entry.ts";
import type { AccessWarning } from "../surface/warnings-of.ts";
import { type AccessCounts, accessSummary } from "./access-summary.ts";
import type { AccessRow } from "./access-table.ts";

const HEADINGS: Readonly<Record<EntryKind, string>> = {
  route: "Routes",
  socket: "Sockets",
  query: "Queries",
  mutation: "Mutations",
  subscription: "Subscriptions",
  field: "Fields with a gate",
  type: "Types with a gate",
  list: "Lists",
  object: "Objects that handlers declare",
  system: "Database handles without rules",
};

const INTRODUCTION = `# Access

The access rules of this application. \`portico audit --write\` writes this file, and \`portico audit --check\` fails if the
application no longer matches it. Review every change of it.
`;

const LEGEND = `## How to read the tables

"Signed in" is a user without any permission. A list shows the rows that a rule selects. "depends" means that the gate decides
by the object, the request, a fact about the user, or how the user signed in.
`;

/**
 * The access table as a Markdown file, to be committed and reviewed: the most important facts, what changed since the last review,
 * the places of the application, and those of Portico.
 *
 * @param before the file of the last review; `null` for the first one
 */
export function accessFile(
  rows: readonly AccessRow[],
  warnings: readonly AccessWarning[],
  before: string | null = null,
): string {
  const sections = [false, true].flatMap((isBuiltIn) =>
    entryKinds.flatMap((kind) => {
      const listed = rows.filter((row) => row.kind === kind && row.isBuiltIn === isBuiltIn);
      const title = `## ${HEADINGS[kind]}${isBuiltIn ? OF_PORTICO : ""}`;
      return listed.length === 0 ? [] : [`${title}\n\n${HEAD}\n${listed.map(line).join("\n")}\n`];
    }),
  );
  const accepted = warnings.length === 0 ? [] : [`${ACCEPTED}\n\n${warnings.map(warningLine).join("\n")}\n`];
  return [INTRODUCTION, glance(rows), ...changed(rows, before), LEGEND, ...sections, ...accepted].join("\n");
}

const OF_PORTICO = " of Portico";
const CHANGED = "## Changed since the last review";

function listed(places: readonly string[]): string {
  return places.length === 0 ? "none" : places.map((place) => `\`${place}\``).join(", ");
}

function countsLine(name: string, { places, open, openWrites }: AccessCounts): string {
  return `| ${name} | ${places} | ${open} | ${openWrites} |`;
}

function glance(rows: readonly AccessRow[]): string {
  const { all, own, builtIn, openPlaces, openWrites, signedInWrites, gatedWrites } = accessSummary(rows);
  return `## At a glance

| | places | open to anyone | of them write |
|---|--:|--:|--:|
${countsLine("This application", own)}
${countsLine("Portico: accounts, pages, documentation, health", builtIn)}
${countsLine("All", all)}

- Open to anyone in this application: ${listed(openPlaces)}
- Open to anyone, and writes: ${listed(openWrites)}
- Every signed-in user writes: ${listed(signedInWrites)}
- Writes with a permission or by a rule: ${listed(gatedWrites)}
`;
}

/** A file that is written again without a change keeps the changes of the last one. */
function changed(rows: readonly AccessRow[], before: string | null): readonly string[] {
  if (before === null) return [];
  const changes = accessChanges(rows, before);
  if (changes.length > 0) return [`${CHANGED}\n\n${changes.map(({ sentence }) => `- ${sentence}`).join("\n")}\n`];
  const at = before.indexOf(`${CHANGED}\n`);
  if (at < 0) return [];
  const end = before.indexOf("\n## ", at + 1);
  return [before.slice(at, end < 0 ? undefined : end)];
}

const ACCEPTED = "## Accepted warnings";

const warningLine = ({ place, sentence }: AccessWarning): string => `- ${place} ${sentence}`;

/** The warnings that the file does not accept. */
export function newWarnings(warnings: readonly AccessWarning[], file: string): readonly AccessWarning[] {
  const known = new Set(file.split(/\r?\n/));
  return warnings.filter((warning) => !known.has(warningLine(warning)));
}

const COLUMNS = ["gate", "anonymous", "signed in", "with permission"] as const;
const HEAD = `| place | ${COLUMNS.join(" | ")} |\n|---|${"---|".repeat(COLUMNS.length)}`;

function line(row: AccessRow): string {
  return `| ${[cell(row.place), ...cellsOf(row)].join(" | ")} |`;
}

function cellsOf({ gate, anonymous, signedIn, grants }: AccessRow): readonly string[] {
  return [gate, anonymous, signedIn, grants.join("; ") || "-"].map(cell);
}

const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", " ");

/** A difference between the application and the file. */
export interface AccessChange {
  readonly change: "new" | "gone" | "changed";
  readonly kind: EntryKind;
  readonly place: string;
  readonly sentence: string;
}

/** Compares the application with a committed file. */
export function accessChanges(rows: readonly AccessRow[], file: string): readonly AccessChange[] {
  const committed = readLines(file);
  const current = new Map(rows.map((row) => [`${row.kind} ${row.place}`, row]));
  const appeared = [...current].flatMap(([key, row]): AccessChange[] => {
    const { kind, place } = row;
    const before = committed.get(key);
    if (before === undefined)
      return [{ change: "new", kind, place, sentence: `${key} is new. ${openness(row)}`.trimEnd() }];
    const differences = COLUMNS.flatMap((column, at) => {
      const [now, then] = [cellsOf(row)[at], before[at]];
      return now === then ? [] : [`${column}: ${now}, before: ${then}`];
    });
    if (differences.length === 0) return [];
    return [
      {
        change: "changed",
        kind,
        place,
        sentence: [`${key} has changed.`, openness(row), differences.join("; ")]
          .filter((part) => part !== "")
          .join(" "),
      },
    ];
  });
  const gone = [...committed.keys()].flatMap((key): AccessChange[] => {
    if (current.has(key)) return [];
    const [kind, place] = [key.slice(0, key.indexOf(" ")) as EntryKind, key.slice(key.indexOf(" ") + 1)];
    const sentence =
      kind === "field" || kind === "type" ? "no longer exists, or has lost its gate" : "no longer exists";
    return [{ change: "gone", kind, place, sentence: `${key} ${sentence}.` }];
  });
  return [...appeared, ...gone];
}

/** A sentence for a place that is more open than most; otherwise an empty text. */
function openness({ kind, anonymous, signedIn }: Pick<AccessRow, "kind" | "anonymous" | "signedIn">): string {
  // The route or the field of a list may have a gate.
  if (kind === "list")
    return anonymous === "yes"
      ? "No rule restricts it."
      : signedIn === "yes"
        ? "Every signed-in user gets all rows."
        : "";
  if (anonymous === "yes") return "It is open to anyone.";
  return signedIn === "yes" ? "It is open to every signed-in user." : "";
}

/** The cells of the tables by kind and place, without the place. Other text in the file is ignored. */
function readLines(file: string): ReadonlyMap<string, readonly string[]> {
  const kinds = new Map(entryKinds.map((kind) => [`## ${HEADINGS[kind]}`, kind]));
  const found = new Map<string, readonly string[]>();
  let kind: EntryKind | undefined;
  for (const text of file.split(/\r?\n/)) {
    if (text.startsWith("## ")) kind = kinds.get(text.trimEnd().replace(/ of Portico$/, ""));
    else if (kind !== undefined && text.startsWith("| ") && !text.startsWith("| place |")) {
      const [place, ...cells] = text
        .trimEnd()
        .slice(2, -2)
        .split(/(?<!\\) \| /);
      found.set(`${kind} ${(place ?? "").replaceAll("\\|", "|")}`, cells);
    }
  }
  return found;
}
