import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import { BadRequest } from "../../http/exceptions.ts";

/** What a member may be; with a question mark it may be missing. */
interface Kinds {
  string: string;
  boolean: boolean;
  integer: number;
  strings: readonly string[];
  date: string;
}
type Kind = keyof Kinds;
type Spec = Readonly<Record<string, Kind | `${Kind}?`>>;
type KindOf<S> = S extends `${infer K extends Kind}?` ? K : S extends Kind ? S : never;
type Optional<M extends Spec> = { [K in keyof M]: M[K] extends `${Kind}?` ? K : never }[keyof M];
/** The value of a record. */
type RecordOf<M extends Spec> = { readonly [K in Exclude<keyof M, Optional<M>>]: Kinds[KindOf<M[K]>] } & {
  readonly [K in Optional<M>]?: Kinds[KindOf<M[K]>];
};
export type RecordSchema<M extends Spec> = StandardSchemaV1<RecordOf<M>>;

/**
 * A schema for flat JSON objects: the bodies and answers of the account routes, without a library. What is not declared is
 * left out, and nothing at all is an object without members where none is needed. A body that does not fit throws 400, the same for everybody and before anything is looked up.
 */
export function record<const M extends Spec>(members: M): RecordSchema<M> {
  const isAllOptional = Object.values(members).every((spec) => spec.endsWith("?"));
  const converter = { input: () => document(members), output: () => document(members) };
  const standard: StandardSchemaV1.Props<RecordOf<M>> & StandardJSONSchemaV1.Props<RecordOf<M>> = {
    version: 1,
    vendor: "portico",
    validate: (value) => {
      if (value === undefined && !isAllOptional) return { issues: [{ message: "The body must be a JSON object" }] };
      return { value: read(members, value === undefined ? {} : value) as RecordOf<M> };
    },
    jsonSchema: converter,
  };
  return { "~standard": standard };
}

function read(members: Spec, value: unknown): object {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new BadRequest("The body must be a JSON object");
  const entries: [string, unknown][] = [];
  for (const [name, spec] of Object.entries(members)) {
    const member: unknown = Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
    if (member === undefined && spec.endsWith("?")) continue;
    const { fits, article } = RULES[kindOf(spec)];
    if (!fits(member)) throw new BadRequest(`The member ${name} must be ${article}`);
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
const RULES: Readonly<
  Record<Kind, { readonly fits: (value: unknown) => boolean; readonly article: string; readonly schema: object }>
> = {
  string: { fits: isText, article: "a string", schema: { type: "string" } },
  boolean: { fits: (value) => typeof value === "boolean", article: "true or false", schema: { type: "boolean" } },
  integer: { fits: Number.isSafeInteger, article: "a whole number", schema: { type: "integer" } },
  strings: {
    fits: (value) => Array.isArray(value) && value.every(isText),
    article: "a list of strings",
    schema: { type: "array", items: { type: "string" } },
  },
  date: { fits: isText, article: "a date", schema: { type: "string", format: "date-time" } },
};
