import type { ShownKind } from "../../pagination/strategies/shown-kind.ts";
import { targetOf } from "./query-reader.ts";
import type { Schema } from "./schema.ts";
import { LEAVE_OPEN, standardJsonSchema } from "./standard-json-schema.ts";

type JSONSchema = Readonly<Record<string, unknown>>;

/**
 * The properties that a schema of items returns as they are, in each of its alternatives, and the kinds of their values. A property counts if the schema
 * describes its input and its output, and both alike. Without Standard JSON Schema, none does.
 */
export function itemColumns(item: Schema): ReadonlyMap<string, ShownKind | null> {
  const [input, output] = (["input", "output"] as const).map((side) =>
    propertiesOf(standardJsonSchema(item, side, MARK_CHANGES)),
  ) as [Properties, Properties];
  const ark = item as Schema & ArkType;
  const isMorph = (name: string): boolean =>
    ark.includesTransform === true && ark.get?.(name).includesTransform !== false;
  return new Map(
    [...output].flatMap(([name, text]) =>
      text === input.get(name) && !isMorph(name) ? [[name, shownKind(JSON.parse(text))] as const] : [],
    ),
  );
}

/** The kind of values that a description allows, apart from null. */
function shownKind({ type, anyOf }: JSONSchema): ShownKind | null {
  const types = Array.isArray(anyOf) ? (anyOf as readonly JSONSchema[]).flatMap((part) => part["type"]) : [type].flat();
  const [one, ...others] = new Set(types.filter((name) => name !== "null"));
  if (others.length > 0) return null;
  if (one === "integer" || one === "number") return "numbers";
  return one === "boolean" ? "booleans" : null;
}

/** Schemas of arktype know whether they transform values. */
interface ArkType {
  readonly includesTransform?: boolean;
  get?(name: string): ArkType;
}

/** The description of each property as text. */
type Properties = ReadonlyMap<string, string>;

function propertiesOf(root: JSONSchema, schema: JSONSchema = root, depth = 0): Properties {
  if (schema["format"] === CHANGED) return new Map();
  const target = targetOf(schema, root);
  if (target !== undefined) return depth > MAX_REFERENCES ? new Map() : propertiesOf(root, target, depth + 1);
  const own = Object.entries((schema["properties"] ?? {}) as Record<string, JSONSchema>).flatMap(([name, property]) => {
    const text = textOf(property, root);
    return isOpaque(text) ? [] : [[name, text] as const];
  });
  const parts = (keyword: string): readonly Properties[] =>
    ((schema[keyword] ?? []) as readonly JSONSchema[]).map((part) => propertiesOf(root, part, depth + 1));
  const merged = new Map([...own, ...parts("allOf").flatMap((part) => [...part])]);
  const [first, ...others] = [...parts("anyOf"), ...parts("oneOf")];
  if (first === undefined) return merged;
  const common = [...first].filter(([name, text]) => others.every((other) => other.get(name) === text));
  return new Map([...merged, ...common]);
}

/** A description as text, with the definitions that it refers to. */
function textOf(property: JSONSchema, root: JSONSchema): string {
  const seen = new Set<unknown>();
  return JSON.stringify(property, (_key, part: JSONSchema | null) => {
    const ref = typeof part === "object" ? part?.["$ref"] : undefined;
    if (ref === undefined || seen.has(ref)) return part;
    seen.add(ref);
    return [part, targetOf(part as JSONSchema, root) ?? CHANGED];
  });
}

/** A schema that accepts anything says nothing about its values, and neither does one that was marked. */
function isOpaque(text: string): boolean {
  return text === "{}" || text === "true" || text.includes(CHANGED);
}

const MAX_REFERENCES = 100;
const CHANGED = "portico:changed";

/**
 * Dates have no JSON Schema, but they are returned as they are. A transformation may end in the type that it began with, so it
 * is marked where the library allows it.
 */
const MARK_CHANGES = {
  ...LEAVE_OPEN,
  // zod
  override: ({ zodSchema: { _zod: zod }, jsonSchema }: ZodStep) => {
    if (isChanging(zod.def)) jsonSchema.format = CHANGED;
    else if (zod.def.type === "date") jsonSchema.format = "date-time";
  },
  // arktype
  fallback: { default: LEAVE_OPEN.fallback, date: (): object => ({ format: "date-time" }) },
  // valibot, which otherwise skips the steps that lead from one type to the other
  typeMode: "ignore",
  errorMode: "ignore",
  overrideSchema: ({ valibotSchema, jsonSchema }: ValibotStep): object | undefined =>
    valibotSchema?.type === "date" ? { ...jsonSchema, format: jsonSchema.format ?? "date-time" } : undefined,
  overrideAction: ({ valibotAction, jsonSchema }: ValibotStep): object | undefined =>
    valibotAction?.kind === "transformation" ? { ...jsonSchema, format: CHANGED } : undefined,
};

/** Whether a schema may return another value than it received. Conversions to text and to numbers keep values apart. */
function isChanging({ type, coerce, checks = [] }: ZodSchema["_zod"]["def"]): boolean {
  if (type === "pipe" || type === "transform") return true;
  return (type === "boolean" && coerce === true) || checks.some(({ _zod: zod }) => zod.def.check === "overwrite");
}

interface ZodStep {
  readonly zodSchema: ZodSchema;
  readonly jsonSchema: { format?: string };
}
interface ZodSchema {
  readonly _zod: {
    readonly def: {
      readonly type: string;
      readonly coerce?: boolean;
      readonly checks?: readonly { readonly _zod: { readonly def: { readonly check: string } } }[];
    };
  };
}
interface ValibotStep {
  readonly valibotSchema?: { readonly type: string };
  readonly valibotAction?: { readonly kind: string };
  readonly jsonSchema: { readonly format?: string };
}
