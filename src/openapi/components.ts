import type { Side } from "./json-schema.ts";
import { mapSchema } from "./map-schema.ts";
import type { JsonSchema } from "./open-api-document.ts";
import { ROOT, SchemaSource } from "./schema-source.ts";

/**
 * The schemas that stand under a name in the document. A schema brings definitions of its own (`#/$defs/Book`), and may
 * speak of itself (`#`): both would point nowhere once it stands inside the document, so they move here.
 */
export class Components {
  readonly #schemas = new Map<string, JsonSchema>();
  /** By content: what is the same schema is one component. */
  readonly #names = new Map<string, string>();

  /** Under a fixed name, which nobody else gets. */
  constructor(reserved: { readonly [name: string]: JsonSchema }) {
    for (const [name, schema] of Object.entries(reserved)) this.#schemas.set(name, schema);
  }

  /** A schema as it stands in an operation: a reference when it has a name of its own or speaks of itself. */
  place(schema: JsonSchema, side: Side, hint: string): JsonSchema {
    const source = new SchemaSource(schema);
    const names = new Map<string, string>();
    const place: Place = { source, side, hint, names };
    if (source.rootName !== undefined) return reference(this.#name(ROOT, place));
    const root = this.#rewrite(source.root, place);
    const self = names.get(ROOT);
    return self === undefined ? root : reference(self);
  }

  /** The keywords of a schema itself, for one that is taken apart. */
  open(schema: JsonSchema, side: Side, hint: string): JsonSchema {
    const source = new SchemaSource(schema);
    return this.#rewrite(source.resolved, { source, side, hint, names: new Map() });
  }

  /** All of them, by name. */
  get schemas(): { readonly [name: string]: JsonSchema } {
    return Object.fromEntries([...this.#schemas].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }

  #rewrite(schema: JsonSchema, place: Place): JsonSchema {
    return mapSchema(schema, ({ $schema: _dialect, $id: _id, ...rest }) => {
      const target = typeof rest["$ref"] === "string" ? place.source.find(rest["$ref"]) : undefined;
      if (target === undefined) return rest;
      return { ...rest, ...reference(this.#name(target.key, place), target.rest) };
    }) as JsonSchema;
  }

  /** The component that a piece of a schema is, made when it is first asked for. */
  #name(key: string, place: Place): string {
    const { source, names } = place;
    const own = names.get(key);
    if (own !== undefined) return own;
    const content = source.content(key);
    const chosen = source.nameOf(key);
    const name =
      this.#names.get(content) ??
      (chosen === undefined ? this.#free(place.hint) : this.#free(chosen, `${chosen}${SUFFIX[place.side]}`));
    names.set(key, name);
    if (this.#names.has(content)) return name;
    this.#names.set(content, name);
    // Taken before what is inside is looked at: it may ask for this very name.
    this.#schemas.set(name, {});
    this.#schemas.set(name, this.#rewrite(source.piece(key), place));
    return name;
  }

  /** The first of these names that is not taken, else the first one with a number. */
  #free(...wanted: readonly [string, ...string[]]): string {
    const free = wanted.find((name) => !this.#schemas.has(name));
    if (free !== undefined) return free;
    let count = 2;
    while (this.#schemas.has(`${wanted[0]}${count}`)) count++;
    return `${wanted[0]}${count}`;
  }
}

/** Where a schema stands, and the components that its pieces have become. */
interface Place {
  readonly source: SchemaSource;
  readonly side: Side;
  readonly hint: string;
  readonly names: Map<string, string>;
}

const SUFFIX = { input: "Input", output: "Output" } as const;

function reference(name: string, rest = ""): JsonSchema {
  return { $ref: `#/components/schemas/${name}${rest}` };
}
