import { GraphQLError } from "graphql";
import type { AnyRef, ArgNode, InputNode, NamedNode, WrapperNode } from "../declare/references/type-node.ts";

/**
 * Turns a value that graphql has coerced into the value that the TypeScript types declare. `null` if they are the same.
 */
export type CompleteInput = ((value: unknown) => unknown) | null;

/** Looks up a node through thunks, classes and names. */
export type Lookup = (ref: AnyRef) => NamedNode | WrapperNode;

/**
 * Completes inputs that the client omitted, at any depth: a nullable input becomes null, and an optional one stays
 * absent. Null for an optional input is rejected unless its inner type is nullable.
 */
export class InputCompletion {
  readonly #lookup: Lookup;
  readonly #inputs = new Map<InputNode, (value: unknown) => unknown>();

  constructor(lookup: Lookup) {
    this.#lookup = lookup;
  }

  /** Completes an argument or an input field; `label` names it in the error if null is rejected. */
  of(label: string, arg: ArgNode): CompleteInput {
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

  /** `mayBeAbsent` is false for an item of a list, which is always present. */
  #value(node: NamedNode | WrapperNode, mayBeAbsent: boolean): CompleteInput {
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
    let fields: (readonly [name: string, complete: CompleteInput])[] | null = null;
    const complete = (value: unknown): unknown => {
      // Built at the first value, because an input object may contain itself.
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
  return new GraphQLError(`${label} may be omitted, but must not be null`, { extensions: { code: "BAD_REQUEST" } });
}
