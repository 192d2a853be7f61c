import { type ASTNode, Kind, parse, print, visit } from "graphql";
import { mutateText } from "./odd-values.ts";
import type { Tape } from "./tape.ts";

const TOKENS: readonly string[] = [
  "",
  "{",
  "}",
  "(",
  ")",
  "[",
  "]",
  ":",
  "!",
  "$",
  "...",
  "@",
  "=",
  "|",
  "&",
  '"',
  '"""',
  "#",
  ",",
  "\0",
  "\ufeff",
  "\\u{110000}",
  "query",
  "mutation",
  "subscription",
  "fragment",
  "on",
  "null",
  "1",
  "-",
  "1e400",
  "__typename",
  "__schema { types { name } }",
  "...F0",
  "@include(if: $v0)",
  "@skip(if: true)",
  "@defer",
  "{ a ".repeat(300),
  "[".repeat(300),
];

/** Changes the text of a document. */
export function mutateDocumentText(tape: Tape, text: string): string {
  return mutateText(tape, text, TOKENS);
}

/** Changes the tree of a document: nodes are removed, repeated, or replaced by others of their kind. */
export function mutateDocumentTree(tape: Tape, text: string): string {
  let changed = text;
  for (let left = 1 + tape.below(3); left > 0; left--) changed = mutateTree(tape, changed);
  return changed;
}

function mutateTree(tape: Tape, text: string): string {
  const document = parse(text, { noLocation: true });
  const nodes: ASTNode[] = [];
  visit(document, { enter: (node) => void nodes.push(node) });
  const chosen = tape.pick(nodes.filter(({ kind }) => kind !== Kind.DOCUMENT));
  const alike = nodes.filter(({ kind }) => kind === chosen.kind);
  const change = tape.below(4);
  const copies = tape.pick([1, 2, 10, 100]);
  const other = tape.pick(alike);
  const nested = (node: ASTNode): ASTNode =>
    node.kind === Kind.FIELD && node.selectionSet !== undefined
      ? {
          ...node,
          selectionSet: { ...node.selectionSet, selections: [...node.selectionSet.selections, chosen as never] },
        }
      : other;
  // On leaving a node: what replaces it on entering would be visited again.
  const tree = visit(document, {
    leave(node, _key, parent) {
      const isParent = node.kind === Kind.SELECTION_SET && node.selections.includes(chosen as never);
      if (change === 3 && isParent)
        return { ...node, selections: [...node.selections, ...Array.from({ length: copies }, () => chosen as never)] };
      if (node !== chosen) return undefined;
      if (change === 0 && Array.isArray(parent)) return null;
      if (change === 1) return other;
      return change === 2 ? nested(chosen) : undefined;
    },
  }) as ASTNode;
  return validText(tree) ?? text;
}

/** A tree without a needed part cannot be printed. */
function validText(tree: ASTNode): string | null {
  try {
    const text = print(tree);
    parse(text);
    return text;
  } catch {
    return null;
  }
}
