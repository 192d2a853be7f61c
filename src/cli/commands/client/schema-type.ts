import type { JSONSchema } from "../../../openapi/open-api-document.ts";

const COMPONENT = "#/components/schemas/";
const SIMPLE: Readonly<Record<string, string>> = {
  string: "string",
  number: "number",
  integer: "number",
  boolean: "boolean",
  null: "null",
};

/** Writes the TypeScript type of a JSON Schema. Keywords that a type cannot express, such as `minimum`, are left out. */
export function schemaType(schema: unknown): string {
  if (typeof schema === "boolean") return schema ? "unknown" : "never";
  const { $ref, const: constant, enum: words, anyOf, oneOf, allOf, type } = schema as JSONSchema;
  if (constant !== undefined) return JSON.stringify(constant);
  if (Array.isArray(words)) return union(words.map((word) => JSON.stringify(word)));
  const parts = [
    ...(typeof $ref === "string" ? [referred($ref)] : []),
    ...(type === undefined && !isObject(schema as JSONSchema) ? [] : [typed(schema as JSONSchema)]),
    ...[anyOf, oneOf].flatMap((choice) => (Array.isArray(choice) ? [`(${union(choice.map(schemaType))})`] : [])),
    ...(Array.isArray(allOf) ? allOf.map((part) => `(${schemaType(part)})`) : []),
  ];
  return parts.length === 0 ? "unknown" : parts.join(" & ");
}

function referred(ref: string): string {
  return ref.startsWith(COMPONENT)
    ? `components["schemas"][${JSON.stringify(ref.slice(COMPONENT.length))}]`
    : "unknown";
}

function isObject({ properties, additionalProperties }: JSONSchema): boolean {
  return properties !== undefined || additionalProperties !== undefined;
}

function typed(schema: JSONSchema): string {
  const { type = "object" } = schema;
  if (Array.isArray(type)) return union(type.map((one) => typed({ ...schema, type: one })));
  if (type === "array") return arrayType(schema);
  if (type === "object") return objectType(schema);
  return SIMPLE[String(type)] ?? "unknown";
}

function arrayType({ prefixItems, items }: JSONSchema): string {
  const rest = items === undefined ? "unknown" : schemaType(items);
  if (!Array.isArray(prefixItems)) return `(${rest})[]`;
  const more = items === undefined || items === false ? [] : [`...(${rest})[]`];
  return `[${[...prefixItems.map(schemaType), ...more].join(", ")}]`;
}

function objectType({ properties = {}, required = [], additionalProperties }: JSONSchema): string {
  const needed = required as readonly string[];
  const members = Object.entries(properties as Readonly<Record<string, JSONSchema>>).map(
    ([name, schema]) =>
      `${comment(schema["description"])}${member(name, !needed.includes(name))}: ${schemaType(schema)};`,
  );
  const isOpen = additionalProperties !== undefined && additionalProperties !== false;
  // A member must fit the index signature, so the two are written as an intersection.
  const index = isOpen ? `{ [key: string]: ${schemaType(additionalProperties)} }` : null;
  if (members.length === 0) return index ?? "Record<string, never>";
  return [block(members), ...(index === null ? [] : [index])].join(" & ");
}

/** Writes the name of a member. */
export function member(name: string, isOptional: boolean): string {
  return `${/^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name)}${isOptional ? "?" : ""}`;
}

/** Writes one member per line. */
export function block(members: readonly string[]): string {
  return `{\n${members.join("\n").replace(/^/gm, "  ")}\n}`;
}

/** Writes a doc comment, if there is something to say. */
export function comment(text: unknown): string {
  return typeof text === "string" && text !== ""
    ? `/** ${text.replaceAll("*/", "*\\/").replaceAll("\n", " ")} */\n`
    : "";
}

function union(types: readonly string[]): string {
  return types.length === 0 ? "never" : [...new Set(types)].join(" | ");
}
