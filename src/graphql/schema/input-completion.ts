import { GraphQLError } from "graphql";
import type { AnyRef, ArgNode, InputNode, NamedNode, WrapperNode } from "../types/type-node.ts";

/** Makes of what graphql coerced what the types promise. `null` where there is nothing to do. */
export type Complete = ((value: unknown) => unknown) | null;

/** Looks through thunks, classes and names. */
export type Lookup = (ref: AnyRef) => NamedNode | WrapperNode;

/**
 * graphql leaves out what the client left out. Here a nullable input is null then and an optional one absent, at any depth,
 * and an optional one that is sent as null is refused unless it may be null.
 */
export class InputCompletion {
  readonly #lookup: Lookup;
  readonly #inputs = new Map<InputNode, (value: unknown) => unknown>();

  constructor(lookup: Lookup) {
    this.#lookup = lookup;
  }

  /** For an argument or an input field; `label` names it in the error of a refused null. */
  of(label: string, arg: ArgNode): Complete {
    const node = this.#lookup(arg.type);
    if (node.kind !== "optional") return this.#value(node, true);
    const inner = this.#lookup(node.of);
    const complete = this.#value(inner, true);
    return (value) => {
      if (value === undefined) return undefined;
      if (value === null && inner.kind !== "nullable") throw mustNotBeNull(label);
      return complete === null ? value : complete(value);
    };
  }

  /** `mayBeAbsent`: an item of a list is always there. */
  #value(node: NamedNode | WrapperNode, mayBeAbsent: boolean): Complete {
    if (node.kind === "input") return this.#input(node);
    if (node.kind === "list") {
      const complete = this.#value(this.#lookup(node.of), false);
      return complete === null ? null : (value) => (value as unknown[]).map(complete);
    }
    if (node.kind !== "nullable") return null;
    const complete = this.#value(this.#lookup(node.of), false);
    if (complete === null) return mayBeAbsent ? (value) => value ?? null : null;
    return (value) => (value === undefined || value === null ? null : complete(value));
  }

  #input(node: InputNode): (value: unknown) => unknown {
    const known = this.#inputs.get(node);
    if (known !== undefined) return known;
    let fields: (readonly [name: string, complete: Complete])[] | null = null;
    const complete = (value: unknown): unknown => {
      // Not before the first value: an input object may hold itself.
      fields ??= node.fields.map(([name, field]) => [name, this.of(`${node.name}.${name}`, field)]);
      const given = value as Readonly<Record<string, unknown>>;
      const completed: Record<string, unknown> = {};
      for (const [name, completeField] of fields) {
        if (node.isOneOf && given[name] === undefined) continue;
        const done = completeField === null ? given[name] : completeField(given[name]);
        if (done !== undefined) completed[name] = done;
      }
      return completed;
    };
    this.#inputs.set(node, complete);
    return complete;
  }
}

function mustNotBeNull(label: string): GraphQLError {
  return new GraphQLError(`${label} may be left out, and must not be null`, { extensions: { code: "BAD_REQUEST" } });
}
