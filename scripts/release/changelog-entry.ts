/** A file of `.changeset/`. */
export interface Changeset {
  /** The name of the file, for messages. */
  readonly file: string;
  /** The part of the framework, such as "graphql". */
  readonly area: string;
  readonly isBreaking: boolean;
  /** Markdown. For a breaking change it has the lines to change, before and after. */
  readonly text: string;
}

const FORM = /^---\n"portico": (?<bump>patch|minor|major)\n---\n+(?<area>[a-z][a-z -]*)(?<mark>!?): (?<text>[^]+)$/;

/** Reads the text of a changeset. Throws an error that names the file if it does not have the form. */
export function readChangeset(file: string, content: string): Changeset {
  const found = FORM.exec(content)?.groups;
  if (found === undefined)
    throw new Error(`${file}: must name only "portico", and begin with the area: "graphql: ...", or "graphql!: ..."`);
  const { bump, area = "", mark, text = "" } = found;
  const isBreaking = mark === "!";
  if (isBreaking && bump === "patch") throw new Error(`${file}: a breaking change needs a minor or major version`);
  if (isBreaking && !text.includes("```"))
    throw new Error(`${file}: a breaking change needs the lines to change, as code`);
  return { file, area, isBreaking, text: text.trim() };
}

/** The entry of a version in CHANGELOG.md: breaking changes first, then the others by area. */
export function changelogEntry(version: string, changesets: readonly Changeset[]): string {
  const breaking = changesets.filter(({ isBreaking }) => isBreaking);
  const others = Object.groupBy(
    changesets.filter(({ isBreaking }) => !isBreaking),
    ({ area }) => area,
  );
  const sections = Object.entries(others)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([area, group = []]) =>
      section(
        capitalised(area),
        group.map(({ text }) => text),
      ),
    );
  if (breaking.length > 0)
    sections.unshift(
      section(
        "Breaking changes",
        breaking.map(({ area, text }) => `**${capitalised(area)}:** ${text}`),
      ),
    );
  return `## ${version}\n\n${sections.join("\n")}`;
}

function section(title: string, texts: readonly string[]): string {
  return `### ${title}\n\n${texts.map((text) => `- ${text.replaceAll(/\n(?=.)/g, "\n  ")}\n`).join("")}`;
}

function capitalised(area: string): string {
  return area.charAt(0).toUpperCase() + area.slice(1);
}
