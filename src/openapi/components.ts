import type { Side } from "./json-schema.ts";
import { mapSchema } from "./map-schema.ts";
import type { JsonSchema } from "./open-api-document.ts";

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
    const source = new Source(schema);
    const names = new Map<string, string>();
    const place: Place = { source, side, hint, names };
    if (source.rootName !== undefined) return reference(this.#name(ROOT, place));
    const root = this.#rewrite(source.root, place);
    const self = names.get(ROOT);
    return self === undefined ? root : reference(self);
  }

  /** The keywords of a schema itself, for one that is taken apart. */
  open(schema: JsonSchema, side: Side, hint: string): JsonSchema {
    const source = new Source(schema);
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
  readonly source: Source;
  readonly side: Side;
  readonly hint: string;
  readonly names: Map<string, string>;
}

type Definitions = Readonly<Record<string, JsonSchema>> | undefined;

const ROOT = "";
const SUFFIX = { input: "Input", output: "Output" } as const;

/** A schema as its library made it, with its definitions. */
class Source {
  readonly root: JsonSchema;
  readonly rootName: string | undefined;
  readonly #definitions: ReadonlyMap<string, JsonSchema>;

  constructor(schema: JsonSchema) {
    const { $defs, definitions, $id, id, ...root } = schema;
    this.root = root;
    this.rootName = componentName(lastOf($id)) ?? componentName(id) ?? componentName(root["title"]);
    this.#definitions = new Map(Object.entries({ ...(definitions as Definitions), ...($defs as Definitions) }));
  }

  /** The root, or what it is a mere reference to. */
  get resolved(): JsonSchema {
    const seen = new Set<JsonSchema>();
    let schema = this.root;
    while (!seen.has(schema) && typeof schema["$ref"] === "string") {
      seen.add(schema);
      const target = this.find(schema["$ref"]);
      if (target === undefined || target.rest !== "") break;
      schema = this.piece(target.key);
    }
    return schema;
  }

  /** Which piece a reference of this schema speaks of, and the way on from there. */
  find(ref: string): { readonly key: string; readonly rest: string } | undefined {
    if (ref !== "#" && !ref.startsWith("#/")) return undefined;
    const match = /^#\/(?:\$defs|definitions)\/([^/]+)(.*)$/.exec(ref);
    const key = match?.[1] === undefined ? undefined : unescapePointer(match[1]);
    if (key !== undefined && this.#definitions.has(key)) return { key, rest: match?.[2] ?? "" };
    return { key: ROOT, rest: ref.slice(1) };
  }

  piece(key: string): JsonSchema {
    return key === ROOT ? this.root : (this.#definitions.get(key) ?? {});
  }

  /** A name that somebody chose. Libraries number what has none, and not the same way in every process. */
  nameOf(key: string): string | undefined {
    if (key === ROOT) return this.rootName;
    return NUMBERED.test(key) ? undefined : componentName(key);
  }

  /** A piece with everything that it reaches: two that have the same mean the same. */
  content(key: string): string {
    const reached = new Map<string, JsonSchema>();
    const visit = (next: string): void => {
      if (reached.has(next)) return;
      reached.set(next, this.piece(next));
      mapSchema(this.piece(next), (schema) => {
        const target = typeof schema["$ref"] === "string" ? this.find(schema["$ref"]) : undefined;
        if (target !== undefined) visit(target.key);
        return schema;
      });
    };
    visit(key);
    return JSON.stringify([...reached]);
  }
}

const NUMBERED = /^(?:__schema|alias|domain|intersection|morph|proto|sequence|structure|union|unit)?\d+$/;

function reference(name: string, rest = ""): JsonSchema {
  return { $ref: `#/components/schemas/${name}${rest}` };
}

/** `An author` is `AnAuthor`: OpenAPI allows few characters in a name. */
function componentName(given: unknown): string | undefined {
  if (typeof given !== "string") return undefined;
  const name = given.replace(/[^\w.-]+(\w?)/g, (_, letter: string) => letter.toUpperCase());
  return name === "" ? undefined : name;
}

/** `https://shop.example/book.json` is `book`. */
function lastOf(id: unknown): unknown {
  return typeof id === "string"
    ? id
        .replace(/#.*$/, "")
        .replace(/(?:\.schema)?\.json$/, "")
        .replace(/^.*\//, "")
    : id;
}

function unescapePointer(token: string): string {
  return decodeLoosely(token).replaceAll("~1", "/").replaceAll("~0", "~");
}

function decodeLoosely(token: string): string {
  try {
    return decodeURIComponent(token);
  } catch {
    return token;
  }
}
