import type { Route } from "../http/routing/route.ts";
import type { Components } from "./components.ts";
import { jsonSchema } from "./json-schema.ts";
import type { JSONSchema, OpenAPIParameter } from "./open-api-document.ts";
import { pageParameters } from "./page-response.ts";
import type { PathTemplate, PathTemplateParameter } from "./path-template.ts";

/** Returns the path and query parameters of a route. Names come from the path, everything else from its schemas. */
export function parameters(
  route: Route,
  template: PathTemplate,
  components: Components,
  hint: string,
): readonly OpenAPIParameter[] {
  const own = [...pathParameters(route, template, components, hint), ...queryParameters(route, components, hint)];
  return [...own, ...pageParameters(route, own), ...(route.idempotent === undefined ? [] : [keyParameter])];
}

/** The header with the key of a request that may be sent again. */
export const IDEMPOTENCY_KEY = "Idempotency-Key";

const keyParameter: OpenAPIParameter = {
  name: IDEMPOTENCY_KEY,
  in: "header",
  description:
    "A new random key for each request, which a retry sends again. The work is done once, and each request with the key receives the same response.",
  schema: { type: "string", minLength: 1, maxLength: 255 },
};

function pathParameters(
  { schemas }: Route,
  template: PathTemplate,
  components: Components,
  hint: string,
): readonly OpenAPIParameter[] {
  const known =
    schemas.path === undefined
      ? {}
      : propertiesOf(components.open(jsonSchema(schemas.path, "input"), "input", `${hint}Path`));
  return template.parameters.map((parameter) => {
    const schema = known[parameter.key] ?? pathSchema(parameter);
    const words = parameter.key === "*" ? { description: REST } : {};
    return { name: parameter.name, in: "path", required: true, ...words, ...described(schema) };
  });
}

function pathSchema({ pattern }: PathTemplateParameter): JSONSchema {
  return pattern === undefined ? { type: "string" } : { type: "string", pattern };
}

function queryParameters({ schemas }: Route, components: Components, hint: string): readonly OpenAPIParameter[] {
  if (schemas.query === undefined) return [];
  const schema = components.open(jsonSchema(schemas.query, "input"), "input", `${hint}Query`);
  if (Object.keys(schema).length === 0) return [];
  // For a union of shapes or unknown names, one exploded form parameter describes the query.
  if (!isPlainObject(schema)) return [{ name: "query", in: "query", style: "form", explode: true, schema }];
  const required = new Set(schema["required"] as readonly string[] | undefined);
  return Object.entries(propertiesOf(schema)).map(([name, property]) => ({
    name,
    in: "query",
    ...(required.has(name) ? { required: true } : {}),
    ...described(property),
  }));
}

function isPlainObject(schema: JSONSchema): boolean {
  return "properties" in schema && !["allOf", "anyOf", "oneOf"].some((keyword) => keyword in schema);
}

function propertiesOf(schema: JSONSchema): { readonly [name: string]: JSONSchema } {
  const properties = Object.entries((schema["properties"] ?? {}) as Record<string, JSONSchema | boolean>);
  return Object.fromEntries(properties.map(([name, property]) => [name, typeof property === "object" ? property : {}]));
}

/** Moves the keywords that readers look for from the schema to the parameter. */
function described({
  description,
  deprecated,
  ...schema
}: JSONSchema): Pick<OpenAPIParameter, "description" | "deprecated" | "schema"> {
  return {
    ...(typeof description === "string" ? { description } : {}),
    ...(deprecated === true ? { deprecated } : {}),
    schema,
  };
}

const REST = "The rest of the path; it may contain slashes.";
