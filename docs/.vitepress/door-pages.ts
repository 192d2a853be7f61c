import { type Declaration, declarationOf } from "./declaration-of.ts";
import { doors, exportedNames } from "./doors.ts";

/** The page of one door: everything that it exports, with its doc comment. */
export interface DoorPage {
  readonly door: string;
  /** Its name in the address. */
  readonly page: string;
  readonly content: string;
}

/** A page per door, made from the sources. Throws for an exported name whose declaration cannot be found. */
export function doorPages(): readonly DoorPage[] {
  return doors.map(([door, file]) => {
    const declarations = exportedNames(file).map((name) => {
      const declaration = declarationOf(file, name);
      if (declaration === undefined) throw new Error(`${door} exports ${name}, which is declared nowhere`);
      return declaration;
    });
    return { door, page: door.replaceAll("/", "-"), content: contentOf(door, declarations) };
  });
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
      .flatMap(([title, members]) => [`## ${title}`, ...members.map(entryOf)]),
  ].join("\n\n");
}

function isCode({ kind }: Declaration): boolean {
  return kind !== "interface" && kind !== "type";
}

function entryOf({ name, kind, file, text, signature, example }: Declaration): string {
  const code = signature === "" ? "" : `\`\`\`ts\n${signature}\n\`\`\``;
  const parts = [`### ${name}`, `${kind} · \`${file}\``, withoutTags(text), code, example ?? ""];
  return parts.filter((part) => part !== "").join("\n\n");
}

/** `{@link Name}` as code; everything else in doc comments is Markdown already. */
function withoutTags(text: string): string {
  return text.replace(/\{@link ([^}|]+)(?:\|[^}]*)?\}/g, (_, name: string) => `\`${name.trim()}\``);
}
