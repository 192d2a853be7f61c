import { type Declaration, declarationOf } from "./declaration-of.ts";
import { doors, exportedNames } from "./doors.ts";
import { pagesAbout } from "./pages-about.ts";

/** The page of one door: everything that it exports, with its doc comment. */
export interface DoorPage {
  readonly door: string;
  /** Its name in the address. */
  readonly page: string;
  readonly content: string;
  readonly declarations: readonly Declaration[];
}

let pages: readonly DoorPage[] | undefined;

/** A page per door, made from the sources. Throws for an exported name whose declaration or signature cannot be found. */
export function doorPages(): readonly DoorPage[] {
  pages ??= doors.map(([door, file]) => {
    const declarations = exportedNames(file).map((name) => {
      const declaration = declarationOf(file, name);
      if (declaration === undefined) throw new Error(`${door} exports ${name}, which is declared nowhere`);
      if (declaration.signature === "") throw new Error(`${door} exports ${name}, whose signature was not found`);
      return declaration;
    });
    return { door, page: pageOf(door), content: contentOf(door, declarations), declarations };
  });
  return pages;
}

function contentOf(door: string, declarations: readonly Declaration[]): string {
  const sections = [
    ["Values", declarations.filter(isCode)],
    ["Types", declarations.filter((declaration) => !isCode(declaration))],
  ] as const;
  return [
    `# ${door}`,
    `What \`import ... from "${door}"\` can name, with the doc comments of the sources. [Contents](/contents) lists the pages that tell how the parts work together.`,
    ...sections
      .filter(([, members]) => members.length > 0)
      .flatMap(([title, members]) => [`## ${title}`, ...members.map((member) => entryOf(door, member))]),
  ].join("\n\n");
}

function isCode({ kind }: Declaration): boolean {
  return kind !== "interface" && kind !== "type";
}

function entryOf(door: string, { name, kind, file, text, signature, example }: Declaration): string {
  const see = pagesAbout(name);
  const types = typesIn(door, name, signature);
  return [
    `### ${name} {#${name}}`,
    `${kind} · \`${file}\``,
    withoutTags(text),
    `\`\`\`ts\n${signature}\n\`\`\``,
    types.length === 0 ? "" : `Types: ${types.join(", ")}.`,
    example ?? "",
    see.length === 0 ? "" : `See ${see.join(" and ")}.`,
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

/** Links to the entries of the types that a signature names, at the same entry point if it exports them. */
function typesIn(door: string, name: string, signature: string): readonly string[] {
  const words = new Set(signature.replace(/\/\*\*.*?\*\//gs, "").match(/\b[A-Z]\w+\b/g));
  return [...words].flatMap((word) => {
    const home = [door, ...doors.map(([other]) => other)].find((place) => namesOf(place).has(word));
    if (word === name || home === undefined) return [];
    return [`[\`${word}\`](${home === door ? "" : `/api/${pageOf(home)}`}#${word})`];
  });
}

const exported = new Map(doors.map(([door, file]) => [door, new Set(exportedNames(file))]));

function namesOf(door: string): ReadonlySet<string> {
  return exported.get(door) ?? new Set();
}

function pageOf(door: string): string {
  return door.replaceAll("/", "-");
}

/** `{@link Name}` as code; everything else in doc comments is Markdown already. */
function withoutTags(text: string): string {
  return text.replace(/\{@link ([^}|]+)(?:\|[^}]*)?\}/g, (_, name: string) => `\`${name.trim()}\``);
}
