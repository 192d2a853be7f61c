import type { ObjectNode } from "../declare/references/type-node.ts";
import type { EnumType } from "../declare/types/enum-type.ts";
import type { InputType } from "../declare/types/input-type.ts";

type Input = EnumType<string> | InputType<unknown>;

/** The names of the sort and filter types of a list. Lists with the same types share them, because a schema has one type of a name. */
export class InputOwner {
  static readonly #byNode = new WeakMap<ObjectNode, Map<string, Input>>();
  static readonly #ofScalars = new Map<string, Input>();
  /** The type of the items. */
  readonly node: ObjectNode;
  readonly #prefix: string;

  constructor(node: ObjectNode, prefix: string = node.name) {
    this.node = node;
    this.#prefix = prefix;
  }

  /** Returns the type of this name and content, made once. Its name begins with the prefix. */
  own<T extends Input>(suffix: string, content: unknown, make: (name: string) => T): T {
    const known = InputOwner.#byNode.get(this.node) ?? new Map<string, Input>();
    InputOwner.#byNode.set(this.node, known);
    return shared(known, this.#prefix + suffix, content, make);
  }

  /** Returns the type of this name, which the lists of all object types share. */
  static common<T extends Input>(name: string, make: (name: string) => T): T {
    return shared(InputOwner.#ofScalars, name, null, make);
  }
}

function shared<T extends Input>(
  known: Map<string, Input>,
  name: string,
  content: unknown,
  make: (name: string) => T,
): T {
  const key = JSON.stringify([name, content]);
  const found = known.get(key) ?? advised(make(name));
  known.set(key, found);
  return found as T;
}

/** Names the option that helps if the schema has another type of this name. */
function advised<T extends Input>(type: T): T {
  Object.assign(type["~node"], { advice: "Set inputPrefix on one of the connections" });
  return type;
}
