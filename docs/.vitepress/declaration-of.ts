import { posix } from "node:path";
import { read } from "./doors.ts";

/** Where an exported name is declared, and what its doc comment says. */
export interface Declaration {
  readonly name: string;
  readonly kind: string;
  /** Path of the source file, from the root of the repository. */
  readonly file: string;
  /** The doc comment up to its first tag, as Markdown. */
  readonly text: string;
  /** What it looks like: an interface or a type as it stands, a function without its body; empty for everything else. */
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
    const declared = source.slice(match.index + (match[0].lastIndexOf("*/\n") + 3 || 0));
    return {
      name,
      kind: kind.replace(/const|let/, "value"),
      file,
      signature: signatureOf(kind, declared),
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

/** Up to the line at the margin that ends it. */
function signatureOf(kind: string, source: string): string {
  const ending = { interface: /\}$/, type: /;$/, function: /[{;]$/ }[kind];
  if (ending === undefined) return "";
  const lines = source.split("\n");
  const last = lines.findIndex((line) => /^\S/.test(line) && ending.test(line));
  const whole = lines
    .slice(0, last + 1)
    .join("\n")
    .replace(/^export /, "");
  return kind === "function" ? whole.replace(/\s*\{$/, ";") : whole;
}

function namespace(file: string, name: string): Declaration {
  return { name, kind: "namespace", file, signature: "", ...parts(/^\/\*\*([^]*?)\*\//.exec(read(file))?.[1] ?? "") };
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
