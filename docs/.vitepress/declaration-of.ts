import { posix } from "node:path";
import { exportedNames, read } from "./doors.ts";
import { commentOf, signatureOf } from "./signature-of.ts";

/** Where an exported name is declared, and what its doc comment says. */
export interface Declaration {
  readonly name: string;
  /** Its name in the file that declares it. */
  readonly local: string;
  readonly kind: string;
  /** Path of the source file, from the root of the repository. */
  readonly file: string;
  /** The doc comment up to its first tag, as Markdown. */
  readonly text: string;
  /** An interface or a type as it stands, a function without its body, a class without its private members. */
  readonly signature: string;
  /** The fenced code of its `@example`, if it has one. */
  readonly example: string | undefined;
}

/**
 * Finds the declaration of a name that a file exports, through the files that it passes on from. By the text of the
 * sources, as they are formatted: a declaration begins its line, and its doc comment ends on the line above.
 */
export function declarationOf(file: string, name: string): Declaration | undefined {
  const source = read(file);
  const match = new RegExp(
    `(?:^/\\*\\*(?<comment>(?:(?!\\*/)[^])*)\\*/\\n)?^(?:export )?(?:declare |abstract |async )*(?<kind>interface|type|class|function|const|let)\\*? ${escape(name)}\\b`,
    "m",
  ).exec(source);
  if (match !== null) {
    const { comment = "", kind = "" } = match.groups ?? {};
    return {
      name,
      local: name,
      kind: kind.replace(/const|let/, "value"),
      file,
      signature: signatureOf(file, name),
      ...parts(comment),
    };
  }
  for (const { from, as } of passedOn(source, name)) {
    const target = posix.join(posix.dirname(file), from);
    const declaration = as === "*" ? namespace(target, name) : declarationOf(target, as);
    if (declaration !== undefined) return { ...declaration, name };
  }
  return undefined;
}

/** The files that a name may come from, and what it is called there. */
function passedOn(source: string, name: string): readonly { readonly from: string; readonly as: string }[] {
  const star = [...source.matchAll(/^(?:export|import) (?:type )?\*(?: as (?<as>\w+))? from "(?<from>\.[^"]+)"/gm)];
  const lists = [...source.matchAll(/^(?:export|import) (?:type )?\{(?<names>[^}]*)\} from "(?<from>\.[^"]+)"/gm)];
  return [
    ...lists.flatMap(({ groups }) => {
      const listed = (groups?.["names"] ?? "").split(",").map((entry) =>
        entry
          .trim()
          .replace(/^type /, "")
          .split(" as "),
      );
      const as = listed.find((names) => names.at(-1) === name)?.[0];
      return as === undefined ? [] : [{ from: groups?.["from"] ?? "", as }];
    }),
    ...star.flatMap(({ groups }) => {
      if (groups?.["as"] === undefined) return [{ from: groups?.["from"] ?? "", as: name }];
      return groups["as"] === name ? [{ from: groups["from"] ?? "", as: "*" }] : [];
    }),
  ];
}

function namespace(file: string, name: string): Declaration {
  const members = exportedNames(file).map((member) => memberOf(file, member).replace(/^(?=.)/gm, "  "));
  const signature = `namespace ${name} {\n${members.join("\n")}\n}`;
  return {
    name,
    local: name,
    kind: "namespace",
    file,
    signature,
    ...parts(/^\/\*\*([^]*?)\*\//.exec(read(file))?.[1] ?? ""),
  };
}

/** A member of a namespace with its doc comment, under the name that it has there. */
function memberOf(file: string, name: string): string {
  const { file: place = file, local = name, signature = "" } = declarationOf(file, name) ?? {};
  const comment = commentOf(place, local).replace(/(?:\n \*)?\n \* @example\n[^]*?(?=\n \*\/)/, "");
  return [comment, signature.replaceAll(new RegExp(`^(\\w+) ${local}\\b`, "gm"), `$1 ${name}`)].join("\n").trim();
}

function parts(comment: string): Pick<Declaration, "text" | "example"> {
  const lines = comment.split("\n").map((line) => line.replace(/^\s*\*? ?/, ""));
  const firstTag = lines.findIndex((line) => line.startsWith("@"));
  const text = lines
    .slice(0, firstTag === -1 ? undefined : firstTag)
    .join("\n")
    .trim();
  const example = /^@example\n(```.*?^```)/ms.exec(lines.join("\n"))?.[1];
  return { text, example };
}

function escape(name: string): string {
  return name.replaceAll("$", "\\$");
}
