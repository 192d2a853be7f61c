import { relative, sep } from "node:path";
import { queueFault } from "./bounded-queues.ts";
import { loopFault, parseFault } from "./client-sized-work.ts";
import { constantNameFault } from "./constant-name.ts";
import { caughtFault, droppedFault, isUnknownName } from "./escaping-errors.ts";
import { fileNameFault } from "./file-name.ts";
import { keyFault, keyTypeFault } from "./kept-per-context.ts";
import { deletionFault } from "./lasting-revocations.ts";
import { refusal } from "./layers.ts";
import { mailerFault } from "./one-mail-sender.ts";
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
  readonly key?: Node;
  readonly callee?: Node;
  readonly arguments?: readonly Node[];
  readonly operator?: string;
  readonly left?: Node;
  readonly right?: Node;
  readonly typeName?: Node;
  readonly typeArguments?: { readonly params: readonly Node[] } | null;
  readonly parent?: Node;
  readonly param?: Node | null;
  readonly params?: readonly Node[];
  readonly expressions?: readonly Node[];
  readonly argument?: Node;
  readonly typeAnnotation?: Node | null;
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
    "constant-names": { create: constantNames },
    "same-verdict": { create: sameVerdict },
    "kept-per-context": { create: keptPerContext },
    "bounded-queues": { create: boundedQueues },
    "lasting-revocations": { create: lastingRevocations },
    "one-mail-sender": { create: oneMailSender },
    "caught-values": { create: caughtValues },
    "dropped-promises": { create: droppedPromises },
    "client-sized-work": { create: clientSizedWork },
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

function constantNames(context: Context): Visitor {
  return {
    VariableDeclarator: (node) => {
      const fault = constantNameFault(node.id?.name ?? "");
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

function boundedQueues(context: Context): Visitor {
  const compared = new Set<string>();
  const pushed: [node: Node, field: string][] = [];
  return {
    BinaryExpression: ({ operator, left, right }) => {
      for (const side of COMPARISON.test(operator ?? "") ? [left, right] : []) {
        const field = side?.property?.name === "length" ? privateField(side.object) : undefined;
        if (field !== undefined) compared.add(field);
      }
    },
    CallExpression: (node) => {
      const field = node.callee?.property?.name === "push" ? privateField(node.callee.object) : undefined;
      if (field !== undefined) pushed.push([node, field]);
    },
    "Program:exit": () => {
      for (const [node, field] of pushed) {
        const message = queueFault(path(context), field, compared);
        if (message !== undefined) context.report({ node, message });
      }
    },
  };
}

function oneMailSender(context: Context): Visitor {
  const fault = mailerFault(path(context));
  if (fault === undefined) return {};
  const judge = (node: Node, name: string | undefined): void => {
    if (name === "mailer") context.report({ node, message: fault });
  };
  return {
    MemberExpression: (node) => judge(node, node.property?.name ?? String(node.property?.value)),
    Property: (node) => judge(node, node.key?.name ?? String(node.key?.value)),
  };
}

function caughtValues(context: Context): Visitor {
  const caught: Set<string>[] = [];
  const isCaught = (node: Node | null | undefined): boolean =>
    node?.name !== undefined && caught.some((names) => names.has(node.name as string));
  const report = (node: Node, how: "instanceof" | "String" | "template" | "err"): void => {
    const message = caughtFault(path(context), how);
    if (message !== undefined) context.report({ node, message });
  };
  const enterFunction = (node: Node): void => {
    const names = (node.params ?? []).filter((param) => isUnknownName(param.name, annotationOf(param)));
    caught.push(new Set([...names, ...rejectionParams(node)].map(({ name }) => name ?? "")));
  };
  const leave = (): void => {
    caught.pop();
  };
  return {
    CatchClause: ({ param }) => caught.push(new Set([param?.name ?? ""])),
    "CatchClause:exit": leave,
    ArrowFunctionExpression: enterFunction,
    "ArrowFunctionExpression:exit": leave,
    FunctionDeclaration: enterFunction,
    "FunctionDeclaration:exit": leave,
    FunctionExpression: enterFunction,
    "FunctionExpression:exit": leave,
    BinaryExpression: (node) => {
      if (node.operator === "instanceof" && isCaught(node.left)) report(node, "instanceof");
    },
    CallExpression: (node) => {
      if (node.callee?.name === "String" && isCaught(node.arguments?.[0])) report(node, "String");
    },
    TemplateLiteral: (node) => {
      if ((node.expressions ?? []).some(isCaught)) report(node, "template");
    },
    Property: (node) => {
      if (node.key?.name === "err" && isCaught(node.value as Node)) report(node, "err");
    },
  };
}

function clientSizedWork(context: Context): Visitor {
  const file = path(context);
  const report = (node: Node, message: string | undefined): void => {
    if (message !== undefined) context.report({ node, message });
  };
  const loops = new Map<Node, boolean>();
  const enter = (node: Node): void => {
    loops.set(node, false);
  };
  return {
    ForStatement: enter,
    ForOfStatement: enter,
    ForInStatement: enter,
    WhileStatement: enter,
    DoWhileStatement: enter,
    MemberExpression: (node) => {
      // Of a Slice, or of Turns.
      if (node.property?.name !== "isOver" && !memberName(node).endsWith("Turns.take")) return;
      for (let around = node.parent; around?.type !== undefined; around = around.parent)
        if (loops.has(around)) loops.set(around, true);
    },
    CallExpression: (node) => {
      if (memberName(node.callee) === "JSON.parse") report(node, parseFault(file));
    },
    "Program:exit": () => {
      for (const [loop, asks] of loops) if (!asks) report(loop, loopFault(file));
    },
  };
}

/** The parameters of a function that receives a rejection: `catch(f)` and `then(value, f)`. */
function rejectionParams(node: Node): readonly Node[] {
  const { params = [], parent } = node;
  const method = parent?.callee?.property?.name;
  const place = method === "catch" ? 0 : method === "then" ? 1 : -1;
  return parent?.arguments?.[place] === node ? params.slice(0, 1) : [];
}

/** The kind of the type annotation of a parameter, such as `TSUnknownKeyword`. */
function annotationOf({ typeAnnotation }: Node): string | undefined {
  return typeAnnotation?.typeAnnotation?.type;
}

function droppedPromises(context: Context): Visitor {
  return {
    UnaryExpression: (node) => {
      const call = node.argument;
      if (node.operator !== "void" || call?.type !== "CallExpression") return;
      const message = droppedFault(path(context), call.callee?.property?.name, call.arguments?.length ?? 0);
      if (message !== undefined) context.report({ node, message });
    },
  };
}

const COMPARISON = /^(?:[<>]=?|[=!]==?)$/;

function lastingRevocations(context: Context): Visitor {
  const file = path(context);
  return {
    CallExpression: (node) => {
      const { object, property } = node.callee ?? {};
      if (property?.name !== "delete") return;
      let isRevoked = false;
      for (let around = node.parent; around?.type !== undefined; around = around.parent)
        isRevoked ||= around.type === "CallExpression" && around.callee?.name === "revoke";
      const message = deletionFault(file, object?.property?.name ?? object?.name, isRevoked);
      if (message !== undefined) context.report({ node, message });
    },
  };
}

/** The name in `this.#name`. */
function privateField(node: Node | undefined): string | undefined {
  return node?.object?.type === "ThisExpression" && node.property?.type === "PrivateIdentifier"
    ? node.property.name
    : undefined;
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
