import { mapSchema } from "./map-schema.ts";
import type { JSONSchema } from "./open-api-document.ts";

/** The key of the schema itself, next to those of its definitions. */
export const ROOT = "";

type Definitions = Readonly<Record<string, JSONSchema>> | undefined;

/** A schema as its library generated it, with its definitions. */
export class SchemaSource {
  readonly root: JSONSchema;
  readonly rootName: string | undefined;
  readonly #definitions: ReadonlyMap<string, JSONSchema>;

  constructor(schema: JSONSchema) {
    const { $defs, definitions, $id, id, ...root } = schema;
    this.root = root;
    this.rootName = componentName(lastOf($id)) ?? componentName(id) ?? componentName(root["title"]);
    this.#definitions = new Map(Object.entries({ ...(definitions as Definitions), ...($defs as Definitions) }));
  }

  /** Returns the root, or the definition that the root only refers to. */
  get resolved(): JSONSchema {
    const seen = new Set<JSONSchema>();
    let schema = this.root;
    while (!seen.has(schema) && typeof schema["$ref"] === "string") {
      seen.add(schema);
      const target = this.find(schema["$ref"]);
      if (target === undefined || target.rest !== "") break;
      schema = this.piece(target.key);
    }
    return schema;
  }

  /** Returns the part that a reference points to, and the rest of its path. */
  find(ref: string): { readonly key: string; readonly rest: string } | undefined {
    if (ref !== "#" && !ref.startsWith("#/")) return undefined;
    const match = /^#\/(?:\$defs|definitions)\/([^/]+)(\/.*)?$/s.exec(ref);
    const key = match?.[1] === undefined ? undefined : unescapePointer(match[1]);
    if (key !== undefined && this.#definitions.has(key)) return { key, rest: match?.[2] ?? "" };
    return { key: ROOT, rest: ref.slice(1) };
  }

  piece(key: string): JSONSchema {
    return key === ROOT ? this.root : (this.#definitions.get(key) ?? {});
  }

  /** Whether an author chose this name. Libraries number unnamed schemas, and not in the same way in every process. */
  nameOf(key: string): string | undefined {
    if (key === ROOT) return this.rootName;
    return NUMBERED.test(key) ? undefined : componentName(key);
  }

  /** Returns a part with everything it reaches. If two parts have equal texts, they mean the same. */
  content(key: string): string {
    const reached = new Map<string, JSONSchema>();
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

/** Turns `An author` into `AnAuthor`, because OpenAPI allows few characters in a name. */
function componentName(given: unknown): string | undefined {
  if (typeof given !== "string") return undefined;
  const name = given.replace(/[^\w.-]+(\w?)/g, (_, letter: string) => letter.toUpperCase());
  return name === "" ? undefined : name;
}

/** Turns `https://shop.example/book.json` into `book`. */
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
