import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLNamedType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  Kind,
  type SelectionSetNode,
} from "graphql";
import type { Fragments } from "../selection/fragments-of.ts";
import { fieldOf } from "./field-price.ts";

/**
 * Whether fields with the same response key are all alike.
 *
 * - `"alike"`: at every place it is the same field with the same arguments and type, so they merge.
 * - `"differ"`: some differ. That can be valid, for objects of two types, or a conflict: graphql has to compare pairs.
 * - `"too many"`: some differ and there are too many pairs, or the expanded document is too large to be checked.
 */
export type Overlaps = "alike" | "differ" | "too many";

// graphql compares a few thousand pairs in a millisecond and gives up after half a million.
const MAX_PAIRS = 10_000;

/**
 * Visits every place of the response once. graphql compares all fields of a place in pairs, which can take 100
 * milliseconds for a document that is well within the limits. Fields rarely differ, and this check takes time linear in
 * the number of selections, of which there may be `most` in all operations together.
 */
export function findOverlaps(
  schema: GraphQLSchema,
  document: DocumentNode,
  fragments: Fragments,
  most: number,
): Overlaps {
  const walk = new Walk(schema, document, fragments, most);
  for (const definition of document.definitions) {
    if (definition.kind === Kind.OPERATION_DEFINITION)
      walk.from(definition.selectionSet, schema.getRootType(definition.operation) ?? undefined);
  }
  // graphql also compares the fields of fragments that never run, because they are not spread or share a name.
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION && !walk.reached.has(definition))
      walk.from(definition.selectionSet, schema.getType(definition.typeCondition.name.value));
  }
  if (walk.selections > most) return "too many";
  if (walk.isAlike) return "alike";
  return walk.pairs > MAX_PAIRS ? "too many" : "differ";
}

/** A place in the response: the fields that are written to it, and the places below. */
interface Place {
  first: Written | null;
  fields: number;
  spreads: number;
  readonly below: Map<string, Place>;
  /** The sets that have been visited here: spreading a fragment again adds nothing. */
  readonly sets: Set<SelectionSetNode>;
}

interface Written {
  readonly node: FieldNode;
  readonly type: GraphQLOutputType | undefined;
}

interface Visit {
  readonly set: SelectionSetNode;
  readonly parent: GraphQLNamedType | undefined;
  readonly place: Place;
}

class Walk {
  readonly reached: Set<FragmentDefinitionNode> = new Set();
  isAlike = true;
  pairs = 0;
  selections = 0;
  readonly #schema: GraphQLSchema;
  readonly #source: string;
  readonly #fragments: Fragments;
  readonly #most: number;
  readonly #open: Visit[] = [];

  constructor(schema: GraphQLSchema, document: DocumentNode, fragments: Fragments, most: number) {
    this.#schema = schema;
    this.#source = document.loc?.source.body ?? "";
    this.#fragments = fragments;
    this.#most = most;
  }

  from(set: SelectionSetNode, parent: GraphQLNamedType | undefined): void {
    this.#open.push({ set, parent, place: emptyPlace() });
    for (let visit = this.#open.pop(); visit !== undefined; visit = this.#open.pop()) {
      if (this.selections > this.#most) return;
      if (visit.place.sets.has(visit.set)) continue;
      visit.place.sets.add(visit.set);
      this.#visit(visit);
    }
  }

  #visit({ set, parent, place }: Visit): void {
    for (const node of set.selections) {
      if (++this.selections > this.#most) return;
      if (node.kind === Kind.FIELD) this.#write(node, parent, place);
      else if (node.kind === Kind.INLINE_FRAGMENT)
        this.#open.push({
          set: node.selectionSet,
          parent: this.#narrowed(node.typeCondition?.name.value, parent),
          place,
        });
      else this.#spread(node.name.value, place);
    }
  }

  #write(node: FieldNode, parent: GraphQLNamedType | undefined, { below }: Place): void {
    const name = (node.alias ?? node.name).value;
    const place = below.get(name) ?? emptyPlace();
    below.set(name, place);
    const type = fieldOf(parent, node.name.value)?.type;
    this.pairs += place.fields++;
    if (place.first === null) place.first = { node, type };
    else this.isAlike &&= this.#areAlike(place.first, { node, type });
    if (node.selectionSet !== undefined)
      this.#open.push({ set: node.selectionSet, parent: type === undefined ? undefined : getNamedType(type), place });
  }

  #spread(name: string, place: Place): void {
    const fragment = this.#fragments.get(name);
    if (fragment === undefined) return;
    this.reached.add(fragment);
    this.pairs += place.spreads++;
    this.#open.push({
      set: fragment.selectionSet,
      parent: this.#schema.getType(fragment.typeCondition.name.value),
      place,
    });
  }

  #narrowed(condition: string | undefined, parent: GraphQLNamedType | undefined): GraphQLNamedType | undefined {
    return condition === undefined ? parent : this.#schema.getType(condition);
  }

  #areAlike(a: Written, b: Written): boolean {
    if (a.node.name.value !== b.node.name.value) return false;
    if (a.type !== b.type && String(a.type) !== String(b.type)) return false;
    return this.#argumentsOf(a.node) === this.#argumentsOf(b.node) && !isStreamed(a.node) && !isStreamed(b.node);
  }

  /** The arguments as they are written. If only their notation differs, graphql decides. */
  #argumentsOf({ arguments: given }: FieldNode): string {
    const start = given?.at(0)?.loc?.start;
    return start === undefined ? "" : this.#source.slice(start, given?.at(-1)?.loc?.end);
  }
}

function emptyPlace(): Place {
  return { first: null, fields: 0, spreads: 0, below: new Map(), sets: new Set() };
}

/** Two streams never merge. */
function isStreamed({ directives }: FieldNode): boolean {
  return directives?.some(({ name }) => name.value === "stream") ?? false;
}
