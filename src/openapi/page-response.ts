import type { Route } from "../http/routing/route.ts";
import type { Components } from "./components.ts";
import { jsonSchema } from "./json-schema.ts";
import type { JsonSchema, OpenApiParameter, OpenApiResponse } from "./open-api-document.ts";

/** The query parameters of a route that answers with pages; those that its own query schema describes are left to it. */
export function pageParameters({ paginated }: Route, taken: readonly OpenApiParameter[]): readonly OpenApiParameter[] {
  if (paginated === undefined) return [];
  const names = new Set(taken.filter((parameter) => parameter.in === "query").map(({ name }) => name));
  return paginated.strategy
    .describe()
    .parameters.filter(({ name }) => !names.has(name))
    .map(({ name, description, schema }) => ({
      name,
      in: "query",
      description,
      // With commas between the entries: a repeated pagination parameter is refused.
      ...(schema["type"] === "array" ? { style: "form" as const, explode: false } : {}),
      schema,
    }));
}

/** The answer with a page: items of the route's schema, and what its strategy says of them. */
export function pageResponse(
  paginated: NonNullable<Route["paginated"]>,
  components: Components,
  hint: string,
): OpenApiResponse {
  const item = components.place(jsonSchema(paginated.item, "output"), "output", `${hint}Item`);
  const schema: JsonSchema = {
    type: "object",
    properties: { items: { type: "array", items: item }, pagination: paginated.strategy.describe().metadata },
    required: ["items", "pagination"],
  };
  const link = { description: "The links of the page (RFC 8288).", schema: { type: "string" } };
  return {
    description: "OK",
    ...(paginated.strategy.linkHeader ? { headers: { Link: link } } : {}),
    content: { "application/json": { schema } },
  };
}
