import { mapSchema } from "./map-schema.ts";
import type { JsonSchema } from "./open-api-document.ts";

/** The key of a schema itself, beside those of its definitions. */
export const ROOT = "";

type Definitions = Readonly<Record<string, JsonSchema>> | undefined;

/** A schema as its library made it, with its definitions. */
export class SchemaSource {
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
    const match = /^#\/(?:\$defs|definitions)\/([^/]+)(\/.*)?$/s.exec(ref);
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

/** `An author` is `AnAuthor`: OpenAPI allows few characters in a name. */
function componentName(given: unknown): string | undefined {
  if (typeof given !== "string") return undefined;
  const name = given.replace(/[^\w.-]+(\w?)/g, (_, letter: string) => letter.toUpperCase());
  return name === "" ? undefined : name;
}

/** `https://shop.example/book.json` is `book`. */
function lastOf(id: unknown): string | undefined {
  return typeof id === "string" ? /([^/#]+?)(?:\.schema)?(?:\.json)?(?:#.*)?$/.exec(id)?.[1] : undefined;
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
