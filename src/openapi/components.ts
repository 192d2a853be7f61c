import type { Side } from "./json-schema.ts";
import { mapSchema } from "./map-schema.ts";
import type { JSONSchema } from "./open-api-document.ts";
import { ROOT, SchemaSource } from "./schema-source.ts";

/**
 * The named schemas of the document. A schema may bring its own definitions (`#/$defs/Book`) and may refer to itself
 * (`#`). Both references would break inside the document, so these schemas move here.
 */
export class Components {
  readonly #schemas = new Map<string, JSONSchema>();
  /** Equal schemas share one component. */
  readonly #names = new Map<string, string>();

  /** Reserves a fixed name for a schema. */
  constructor(reserved: { readonly [name: string]: JSONSchema }) {
    for (const [name, schema] of Object.entries(reserved)) this.#schemas.set(name, schema);
  }

  /** Returns the schema for an operation: a reference if the schema has a name or refers to itself. */
  place(schema: JSONSchema, side: Side, hint: string): JSONSchema {
    const source = new SchemaSource(schema);
    const names = new Map<string, string>();
    const place: Place = { source, side, hint, names };
    if (source.rootName !== undefined) return reference(this.#name(ROOT, place));
    const root = this.#rewrite(source.root, place);
    const self = names.get(ROOT);
    return self === undefined ? root : reference(self);
  }

  /** Returns the keywords of the schema itself, for callers that split it into parts. */
  open(schema: JSONSchema, side: Side, hint: string): JSONSchema {
    const source = new SchemaSource(schema);
    return this.#rewrite(source.resolved, { source, side, hint, names: new Map() });
  }

  /** Returns all components by name. */
  get schemas(): { readonly [name: string]: JSONSchema } {
    return Object.fromEntries([...this.#schemas].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }

  #rewrite(schema: JSONSchema, place: Place): JSONSchema {
    return mapSchema(schema, ({ $schema: _dialect, $id: _id, ...rest }) => {
      const target = typeof rest["$ref"] === "string" ? place.source.find(rest["$ref"]) : undefined;
      if (target === undefined) return rest;
      return { ...rest, ...reference(this.#name(target.key, place), target.rest) };
    }) as JSONSchema;
  }

  /** Returns the component for a part of a schema, and creates it on first use. */
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
    // The name is taken before the inner schemas are visited, because they may refer to this one.
    this.#schemas.set(name, {});
    this.#schemas.set(name, this.#rewrite(source.piece(key), place));
    return name;
  }

  /** Returns the first free name, or the first name with a number. */
  #free(...wanted: readonly [string, ...string[]]): string {
    const free = wanted.find((name) => !this.#schemas.has(name));
    if (free !== undefined) return free;
    let count = 2;
    while (this.#schemas.has(`${wanted[0]}${count}`)) count++;
    return `${wanted[0]}${count}`;
  }
}

/** A schema and the components that its parts have become. */
interface Place {
  readonly source: SchemaSource;
  readonly side: Side;
  readonly hint: string;
  readonly names: Map<string, string>;
}

const SUFFIX = { input: "Input", output: "Output" } as const;

function reference(name: string, rest = ""): JSONSchema {
  return { $ref: `#/components/schemas/${name}${rest}` };
}
