import { relative, sep } from "node:path";
import { fileNameFault } from "./file-name.ts";
import { keyFault, keyTypeFault } from "./kept-per-context.ts";
import { refusal } from "./layers.ts";
import { dateFault, isJudged, memberFault, waitFault } from "./same-verdict.ts";

// The part of oxlint's plugin interface that is used here.
interface Node {
  readonly type: string;
  readonly value?: unknown;
  readonly source?: Node | null;
  readonly id?: Node;
  readonly name?: string;
  readonly body?: readonly Node[];
  readonly declaration?: Node | null;
  readonly declarations?: readonly Node[];
  readonly specifiers?: readonly Node[];
  readonly exported?: Node;
  readonly object?: Node;
  readonly property?: Node;
  readonly callee?: Node;
  readonly arguments?: readonly Node[];
  readonly operator?: string;
  readonly typeName?: Node;
  readonly typeArguments?: { readonly params: readonly Node[] } | null;
  readonly parent?: Node;
}
interface Context {
  readonly cwd: string;
  readonly filename: string;
  report(finding: { node: Node; message: string }): void;
}
type Visitor = Record<string, (node: Node) => void>;

const plugin: { meta: { name: string }; rules: Record<string, { create(context: Context): Visitor }> } = {
  meta: { name: "portico" },
  rules: {
    layers: { create: layers },
    "file-names": { create: fileNames },
    "same-verdict": { create: sameVerdict },
    "kept-per-context": { create: keptPerContext },
  },
};
export default plugin;

function layers(context: Context): Visitor {
  const file = path(context);
  const judge = (literal: Node | null | undefined): void => {
    if (typeof literal?.value !== "string") return;
    const reason = refusal(file, literal.value);
    if (reason !== undefined) context.report({ node: literal, message: `"${literal.value}" from ${file}: ${reason}` });
  };
  return {
    ImportDeclaration: ({ source }) => judge(source),
    ExportNamedDeclaration: ({ source }) => judge(source),
    ExportAllDeclaration: ({ source }) => judge(source),
    ImportExpression: ({ source }) => judge(source),
    TSImportType: ({ source }) => judge(source),
    TSModuleDeclaration: ({ id }) => judge(id),
  };
}

function fileNames(context: Context): Visitor {
  return {
    Program: (node) => {
      const fault = fileNameFault(path(context), (node.body ?? []).flatMap(exportedNames));
      if (fault !== undefined) context.report({ node, message: fault });
    },
  };
}

function sameVerdict(context: Context): Visitor {
  if (!isJudged(path(context))) return {};
  const report = (node: Node, message: string | undefined): void => {
    if (message !== undefined) context.report({ node, message });
  };
  return {
    MemberExpression: (node) => report(node, memberFault(memberName(node))),
    CallExpression: (node) => {
      const called = memberName(node.callee);
      const use = called === "Date.now" ? useOfDate(node) : undefined;
      if (use !== undefined) report(node, dateFault(use));
      const isHasty = called === "vi.waitFor" || called === "vi.waitUntil";
      if (isHasty && node.arguments?.length === 1) report(node, waitFault);
    },
  };
}

function keptPerContext(context: Context): Visitor {
  const file = path(context);
  const report = (node: Node, message: string | undefined): void => {
    if (message !== undefined) context.report({ node, message });
  };
  const judgeType = (node: Node, collection: string | undefined): void => {
    const [key] = node.typeArguments?.params ?? [];
    report(node, keyTypeFault(file, collection ?? "", key?.typeName?.name ?? ""));
  };
  return {
    TSTypeReference: (node) => judgeType(node, node.typeName?.name),
    NewExpression: (node) => judgeType(node, node.callee?.name),
    CallExpression: (node) => {
      const [key] = node.arguments ?? [];
      const method = node.callee?.property?.name ?? "";
      report(node, keyFault(file, method, key?.name ?? `.${key?.property?.name}`));
    },
  };
}

/** Follows a `Date.now()` through the expression around it, up to a comparison, an `expect` of a difference, or a seed. */
function useOfDate(call: Node): "compared" | "seed" | undefined {
  let isDifference = false;
  for (let node = call.parent; node !== undefined; node = node.parent) {
    if (node.type === "BinaryExpression") {
      if (node.operator === "%") return "seed";
      if (/^[<>]=?$/.test(node.operator ?? "")) return "compared";
      isDifference ||= node.operator === "-";
    } else if (node.type === "CallExpression") {
      if (node.callee?.name === "expect") return isDifference ? "compared" : undefined;
      if (node.callee?.object?.name !== "Math") return undefined;
    } else return undefined;
  }
  return undefined;
}

/** `performance.now`, also for `globalThis.performance.now`. */
function memberName(node: Node | undefined): string {
  const owner = node?.object?.property ?? node?.object;
  return `${owner?.name}.${node?.property?.name}`;
}

/** The names that a statement exports, those of other files left out. */
function exportedNames({ type, source, declaration, specifiers = [] }: Node): readonly string[] {
  if (type !== "ExportNamedDeclaration" || source) return [];
  const declared = declaration?.declarations ?? (declaration ? [declaration] : []);
  return [...declared.map(({ id }) => id), ...specifiers.map(({ exported }) => exported)].flatMap(
    (named) => named?.name ?? [],
  );
}

function path({ cwd, filename }: Context): string {
  return relative(cwd, filename).replaceAll(sep, "/");
}
