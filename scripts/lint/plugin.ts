import { relative, sep } from "node:path";
import { fileNameFault } from "./file-name.ts";
import { refusal } from "./layers.ts";

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
