import { type DocumentNode, type FieldNode, Kind, type OperationDefinitionNode, type SelectionSetNode } from "graphql";
import { PRICES } from "./random-documents.ts";

/** A field with its fragments expanded away, and the directives that stood on the way to it. */
interface Expanded {
  readonly node: FieldNode;
  readonly below: readonly Expanded[];
}

/** Counts by writing the operation out: what the limits have to find without doing so. */
export function countNaively(document: DocumentNode): Record<string, number> {
  let directives = 0;
  const operation = document.definitions.find((definition) => definition.kind === Kind.OPERATION_DEFINITION);
  for (const { directives: own } of [operation, ...(operation?.variableDefinitions ?? [])].filter(
    (node) => node !== undefined,
  ))
    directives += own?.length ?? 0;
  const root = expand((operation as OperationDefinitionNode).selectionSet);
  const all = flat(root);
  return {
    depth: depthOf(root),
    aliases: all.filter(({ node }) => node.alias !== undefined).length,
    breadth: Math.max(root.length, ...all.map(({ below }) => below.length)),
    fields: all.length,
    directives,
  };

  function expand(set: SelectionSetNode): Expanded[] {
    return set.selections.flatMap((node) => {
      directives += node.directives?.length ?? 0;
      if (node.kind === Kind.FIELD)
        return [{ node, below: node.selectionSet === undefined ? [] : expand(node.selectionSet) }];
      if (node.kind === Kind.INLINE_FRAGMENT) return expand(node.selectionSet);
      const fragment = fragmentOf(document, node.name.value);
      directives += fragment.directives?.length ?? 0;
      return expand(fragment.selectionSet);
    });
  }
}

function flat(fields: readonly Expanded[]): Expanded[] {
  return fields.flatMap((field) => [field, ...flat(field.below)]);
}

function depthOf(fields: readonly Expanded[]): number {
  return fields.length === 0 ? 0 : 1 + Math.max(...fields.map(({ below }) => depthOf(below)));
}

/** The cost on the schema of `pricedSchema`, likewise. */
export function costNaively(document: DocumentNode, variables: Readonly<Record<string, unknown>>): number {
  const operation = document.definitions.find((definition) => definition.kind === Kind.OPERATION_DEFINITION);
  return (operation as OperationDefinitionNode).selectionSet.selections.length === 0
    ? 0
    : sum((operation as OperationDefinitionNode).selectionSet, "Query");

  function sum(set: SelectionSetNode, parent: string): number {
    let total = 0;
    for (const node of set.selections) {
      if (node.kind === Kind.INLINE_FRAGMENT) total += sum(node.selectionSet, parent);
      else if (node.kind === Kind.FRAGMENT_SPREAD)
        total += sum(fragmentOf(document, node.name.value).selectionSet, parent);
      else {
        total += PRICES[node.name.value]?.cost ?? 1;
        if (node.selectionSet !== undefined) total += sizeOf(node, parent) * sum(node.selectionSet, "Node");
      }
    }
    return total;
  }

  function sizeOf(node: FieldNode, parent: string): number {
    const name = node.name.value;
    if (name === "few") return 5;
    if (name === "a") return 1;
    const value = node.arguments?.[0]?.value;
    const omitted = name === "some" ? null : parent === "Query" ? 2 : 3;
    let asked: unknown = omitted;
    if (value?.kind === Kind.INT) asked = Number(value.value);
    else if (value?.kind === Kind.NULL) asked = null;
    else if (value?.kind === Kind.VARIABLE && value.name.value in variables) asked = variables[value.name.value];
    const [max, assumed] = name === "some" ? [7, 4] : [9, 9];
    return typeof asked === "number" ? Math.min(Math.max(asked, 0), max) : assumed;
  }
}

function fragmentOf(
  document: DocumentNode,
  name: string,
): { directives?: readonly unknown[] | undefined; selectionSet: SelectionSetNode } {
  const found = document.definitions.find(
    (definition) => definition.kind === Kind.FRAGMENT_DEFINITION && definition.name.value === name,
  );
  if (found?.kind !== Kind.FRAGMENT_DEFINITION) throw new Error(`no fragment ${name}`);
  return found;
}
