import type { Route } from "../http/routing/route.ts";
import type { Schema } from "../http/routing/schema.ts";
import { decidesByColumns, nameOf } from "../kernel/access/gate-node.ts";
import type { Components } from "./components.ts";
import { jsonSchema } from "./json-schema.ts";
import type { JSONSchema, OpenAPIParameter, OpenAPIResponse } from "./open-api-document.ts";

/** Returns the query parameters of a paginated route, except those that its own query schema describes. */
export function pageParameters({ paginated }: Route, taken: readonly OpenAPIParameter[]): readonly OpenAPIParameter[] {
  if (paginated === undefined) return [];
  const names = new Set(taken.filter((parameter) => parameter.in === "query").map(({ name }) => name));
  return paginated.strategy
    .describe()
    .parameters.filter(({ name }) => !names.has(name))
    .map(({ name, description, schema }) => ({
      name,
      in: "query",
      description,
      // Entries are separated by commas, because a repeated pagination parameter is rejected.
      ...(schema["type"] === "array" ? { style: "form" as const, explode: false } : {}),
      schema,
    }));
}

/** Describes a page: items of the route's schema and the metadata of its strategy. */
export function pageResponse(
  paginated: NonNullable<Route["paginated"]>,
  itemSchema: Schema,
  components: Components,
  hint: string,
): OpenAPIResponse {
  const item = components.place(jsonSchema(itemSchema, "output"), "output", `${hint}Item`);
  const schema: JSONSchema = {
    type: "object",
    properties: { items: { type: "array", items: item }, pagination: metadataOf(paginated) },
    required: ["items", "pagination"],
  };
  const link = { description: "The links of the page (RFC 8288).", schema: { type: "string" } };
  return {
    description: paginated.rule === null ? "OK" : `OK. Only the items that the rule ${nameOf(paginated.rule)} allows.`,
    ...(paginated.strategy.linkHeader ? { headers: { Link: link } } : {}),
    content: { "application/json": { schema } },
  };
}

/** Without a condition the rows that a rule allows cannot be counted, so the totals are null. */
function metadataOf({ strategy, rule }: NonNullable<Route["paginated"]>): JSONSchema {
  const { metadata } = strategy.describe();
  if (rule === null || decidesByColumns(rule)) return metadata;
  const properties = Object.entries((metadata["properties"] ?? {}) as Record<string, JSONSchema>).map(
    ([name, schema]) => (name.startsWith("total_") ? [name, { ...schema, type: ["integer", "null"] }] : [name, schema]),
  );
  return { ...metadata, properties: Object.fromEntries(properties) as JSONSchema };
}
