import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import type { ThrowingSchema } from "../../../http/routing/schema.ts";
import { BadRequest } from "../../../kernel/exceptions/http-exception.ts";
import { webauthnSchemas } from "./webauthn-schemas.ts";

/** The types of members. A question mark makes a member optional. */
interface Kinds {
  string: string;
  boolean: boolean;
  flag: "true" | "false";
  integer: number;
  strings: readonly string[];
  "strings | null": readonly string[] | null;
  date: string;
  "date | null": string | null;
  creation: object;
  request: object;
  registration: object;
  assertion: object;
}
type Kind = keyof Kinds;
type Spec = Readonly<Record<string, Kind | `${Kind}?`>>;
type KindOf<S> = S extends `${infer K extends Kind}?` ? K : S extends Kind ? S : never;
type Optional<M extends Spec> = { [K in keyof M]: M[K] extends `${Kind}?` ? K : never }[keyof M];
type RecordOf<M extends Spec> = { readonly [K in Exclude<keyof M, Optional<M>>]: Kinds[KindOf<M[K]>] } & {
  readonly [K in Optional<M>]?: Kinds[KindOf<M[K]>];
};
export type RecordSchema<M extends Spec> = StandardSchemaV1<RecordOf<M>>;

/**
 * The request body of an account route. Anything but a matching JSON object throws 400, with the same message for every
 * caller and before anything is looked up. A missing body is read as an empty object if no member is required.
 */
export function requestBody<const M extends Spec>(members: M): RecordSchema<M> & ThrowingSchema {
  const isAllOptional = Object.values(members).every((spec) => spec.endsWith("?"));
  const schema = standardSchema(document(members), (value) => {
    const result = read(members, value === undefined && isAllOptional ? {} : value);
    if (typeof result === "string") throw new BadRequest(result);
    return result as RecordOf<M>;
  });
  return { ...schema, "~status": 400 };
}

/** The query of an account route. Undeclared parameters are left out, and invalid ones are rejected with 422. */
export function requestQuery<const M extends Spec>(members: M): RecordSchema<M> {
  return standardSchema(document(members), (value) => read(members, value) as RecordOf<M> | string);
}

/**
 * The response of an account route: a flat JSON object. Undeclared members are left out.
 *
 * @param name the name of its component in the OpenAPI document
 */
export function record<const M extends Spec>(members: M, name: string): RecordSchema<M> {
  return standardSchema(component(name, document(members)), (value) => read(members, value) as RecordOf<M> | string);
}

/** A list of such objects. The component describes one of them. */
export function records<const M extends Spec>(members: M, name: string): StandardSchemaV1<readonly RecordOf<M>[]> {
  const { $defs, ...items } = component(name, document(members));
  return standardSchema({ type: "array", items, $defs }, (value) => {
    if (!Array.isArray(value)) return "The value must be a list";
    const entries = value.map((entry) => read(members, entry));
    return entries.find((entry) => typeof entry === "string") ?? (entries as RecordOf<M>[]);
  });
}

/** One of two such objects. The first that fits is used. */
export function either<A extends object, B extends object>(
  first: StandardSchemaV1<A>,
  second: StandardSchemaV1<B>,
): StandardSchemaV1<A | B> {
  const [one, other] = [first, second].map(documentOf) as [Described, Described];
  const described = { anyOf: [{ $ref: one.$ref }, { $ref: other.$ref }], $defs: { ...one.$defs, ...other.$defs } };
  return standardSchema<A | B>(described, (value) => {
    const results = [first, second].map((schema) => schema["~standard"].validate(value)) as StandardSchemaV1.Result<
      A | B
    >[];
    const fitting = results.find((result) => !(result instanceof Promise) && result.issues === undefined);
    return fitting !== undefined && fitting.issues === undefined ? fitting.value : "The value has neither form";
  });
}

/** @param read returns the value, or a message that says what is wrong */
function standardSchema<T extends object>(
  described: Record<string, unknown>,
  read: (value: unknown) => T | string,
): StandardSchemaV1<T> {
  const standard: StandardSchemaV1.Props<T> & StandardJSONSchemaV1.Props<T> = {
    version: 1,
    vendor: "portico",
    validate: (value) => {
      const result = read(value);
      return typeof result === "string" ? { issues: [{ message: result }] } : { value: result };
    },
    jsonSchema: { input: () => described, output: () => described },
  };
  return { "~standard": standard };
}

interface Described {
  readonly $ref: string;
  readonly $defs: Record<string, unknown>;
}

function documentOf(schema: StandardSchemaV1): Described {
  const standard = schema["~standard"] as unknown as StandardJSONSchemaV1.Props;
  return standard.jsonSchema.output({ target: "draft-2020-12" }) as unknown as Described;
}

/** Names the schema, so that all operations refer to one component. */
function component(name: string, schema: Record<string, unknown>): Record<string, unknown> {
  return { $ref: `#/$defs/${name}`, $defs: { [name]: schema } };
}

function read(members: Spec, value: unknown): object | string {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "The body must be a JSON object";
  const entries: [string, unknown][] = [];
  for (const [name, spec] of Object.entries(members)) {
    const member: unknown = Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
    if (member === undefined && spec.endsWith("?")) continue;
    const { fits, article } = RULES[kindOf(spec)];
    if (!fits(member)) return `The member ${name} must be ${article}`;
    entries.push([name, member]);
  }
  return Object.fromEntries(entries);
}

function document(members: Spec): Record<string, unknown> {
  const entries = Object.entries(members);
  return {
    type: "object",
    properties: Object.fromEntries(entries.map(([name, spec]) => [name, RULES[kindOf(spec)].schema])),
    required: entries.filter(([, spec]) => !spec.endsWith("?")).map(([name]) => name),
  };
}

function kindOf(spec: Kind | `${Kind}?`): Kind {
  return spec.replace("?", "") as Kind;
}

const isText = (value: unknown): boolean => typeof value === "string";
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
interface Rule {
  readonly fits: (value: unknown) => boolean;
  readonly article: string;
  readonly schema: object;
}
const webAuthn = (schema: object): Rule => ({
  fits: (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  article: "an object",
  schema,
});
const RULES: Readonly<Record<Kind, Rule>> = {
  string: { fits: isText, article: "a string", schema: { type: "string" } },
  boolean: { fits: (value) => typeof value === "boolean", article: "true or false", schema: { type: "boolean" } },
  flag: {
    fits: (value) => value === "true" || value === "false",
    article: "true or false",
    schema: { type: "string", enum: ["true", "false"] },
  },
  integer: { fits: Number.isSafeInteger, article: "a whole number", schema: { type: "integer" } },
  strings: {
    fits: isTexts,
    article: "a list of strings",
    schema: { type: "array", items: { type: "string" } },
  },
  "strings | null": {
    fits: (value) => value === null || isTexts(value),
    article: "a list of strings or null",
    schema: { type: ["array", "null"], items: { type: "string" } },
  },
  date: { fits: isText, article: "a date", schema: { type: "string", format: "date-time" } },
  // Objects of WebAuthn: the package that verifies them reads their members.
  creation: webAuthn(webauthnSchemas.creation),
  request: webAuthn(webauthnSchemas.request),
  registration: webAuthn(webauthnSchemas.registration),
  assertion: webAuthn(webauthnSchemas.assertion),
  "date | null": {
    fits: (value) => value === null || isText(value),
    article: "a date or null",
    schema: { type: ["string", "null"], format: "date-time" },
  },
};
