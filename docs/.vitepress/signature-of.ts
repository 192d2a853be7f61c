import { parseSync } from "vite";
import { read } from "./doors.ts";

// The part of the syntax tree that is read here.
interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly declaration?: Node | null;
  readonly declarations?: readonly Node[];
  readonly id?: { readonly name: string; readonly typeAnnotation?: object | null };
  readonly init?: Node | null;
  readonly body?: Node | readonly Node[] | null;
  readonly key?: Node;
  readonly value?: Node | null;
  readonly accessibility?: string | null;
  readonly typeAnnotation?: object | null;
}

interface Source {
  readonly code: string;
  readonly statements: readonly Node[];
  /** The doc comments, by the position where each ends. */
  readonly comments: ReadonlyMap<number, string>;
}

const sources = new Map<string, Source>();

/**
 * The declaration of a name in the file that declares it, without function bodies, initial values and private members.
 * Empty if the file does not declare the name.
 */
export function signatureOf(file: string, name: string): string {
  const source = sourceOf(file);
  const found = source.statements.filter((node) => namesOf(node).includes(name));
  const overloads = found.filter(({ type }) => type === "TSDeclareFunction");
  return found
    .filter((node) => overloads.length === 0 || node.type !== "FunctionDeclaration")
    .map((node) => declared(source, node))
    .join("\n");
}

/** The doc comment of a name in the file that declares it, as it stands there. */
export function commentOf(file: string, name: string): string {
  const source = sourceOf(file);
  const nodes = source.statements.filter((node) => namesOf(node).includes(name));
  return nodes.map(({ start }) => commentBefore(source, start)).find((comment) => comment !== "") ?? "";
}

function sourceOf(file: string): Source {
  const known = sources.get(file);
  if (known !== undefined) return known;
  const code = read(file);
  const { program, comments } = parseSync(file, code);
  const source: Source = {
    code,
    statements: (program.body as unknown as readonly Node[]).map((node) => node.declaration ?? node),
    comments: new Map(
      comments
        .map(({ start, end }) => [end, code.slice(start, end)] as const)
        .filter(([, text]) => text.startsWith("/**")),
    ),
  };
  sources.set(file, source);
  return source;
}

function namesOf({ id, declarations = [] }: Node): readonly string[] {
  return [id?.name ?? "", ...declarations.map((one) => one.id?.name ?? "")];
}

function declared(source: Source, node: Node): string {
  const { code } = source;
  if (node.type === "ClassDeclaration") return classOf(source, node);
  if (node.type === "VariableDeclaration") return variableOf(code, node);
  if (node.type === "FunctionDeclaration") return withoutBody(code, node);
  return code.slice(node.start, node.end);
}

function classOf(source: Source, node: Node): string {
  const body = node.body as Node & { readonly body: readonly Node[] };
  const overloaded = new Set(body.body.filter(isOverload).map((member) => keyOf(source, member)));
  const members = body.body
    .filter((member) => isOverload(member) || !overloaded.has(keyOf(source, member)))
    .map((member) => memberOf(source, member))
    .filter((text) => text !== "");
  const head = source.code.slice(node.start, body.start).trim();
  return members.length === 0 ? `${head} {}` : `${head} {\n${members.map((text) => `  ${text}\n`).join("")}}`;
}

function memberOf(source: Source, member: Node): string {
  const { type, key, value, start, end, accessibility } = member;
  const comment = commentBefore(source, start);
  // A key such as "~columns" only carries types.
  const isPrivate = key?.type === "PrivateIdentifier" || /^["']~/.test(keyOf(source, member));
  const isHidden = isPrivate || accessibility === "private" || comment.includes("@internal");
  if (isHidden || type === "StaticBlock") return "";
  const before = comment === "" ? "" : `${comment}\n  `;
  if (type.endsWith("MethodDefinition")) {
    const text = source.code.slice(start, (value?.body as Node | null | undefined)?.start ?? end);
    return `${before}${asDeclared(text)}`;
  }
  const isTyped = member.typeAnnotation !== null && member.typeAnnotation !== undefined;
  const text = source.code.slice(start, isTyped && value ? value.start : end);
  return `${before}${ended(text.replace(/^declare /, "").replace(/\s*=\s*$/, ""))}`;
}

function isOverload({ type, value }: Node): boolean {
  return type === "MethodDefinition" && value?.type === "TSEmptyBodyFunctionExpression";
}

function keyOf({ code }: Source, { key }: Node): string {
  return key === undefined ? "" : code.slice(key.start, key.end);
}

function variableOf(code: string, node: Node): string {
  const [variable] = node.declarations ?? [];
  const isTyped = variable?.id?.typeAnnotation !== null && variable?.id?.typeAnnotation !== undefined;
  const text = code.slice(node.start, isTyped && variable?.init ? variable.init.start : node.end);
  return ended(text.replace(/\s*=\s*$/, ""));
}

function withoutBody(code: string, node: Node): string {
  return asDeclared(code.slice(node.start, (node.body as Node | null | undefined)?.start ?? node.end));
}

/** A declaration has neither `async` nor the asterisk of a generator, because the return type says as much. */
function asDeclared(text: string): string {
  return ended(
    text
      .replace(/^((?:(?:public|protected|static|override) )*)async /, "$1")
      .replace(/^((?:(?:public|protected|static|override) )*)\*/, "$1")
      .replace(/^function\*/, "function"),
  );
}

function ended(text: string): string {
  return `${text.trim().replace(/;$/, "")};`;
}

/** The doc comment that ends on the line above. */
function commentBefore({ code, comments }: Source, start: number): string {
  const before = code.slice(0, start).replace(/(?<=^|\s)(?:export|default)\s+$/, "");
  return comments.get(before.trimEnd().length) ?? "";
}
