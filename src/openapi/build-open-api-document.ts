import { isPromise } from "../core/maybe-promise.ts";
import type { Route } from "../http/routing/route.ts";
import { valueOfNothing } from "../http/routing/schema.ts";
import { Components } from "./components.ts";
import { jsonSchema } from "./json-schema.ts";
import type {
  OpenAPIDocument,
  OpenAPIInfo,
  OpenAPIMethod,
  OpenAPIOperation,
  OpenAPIPath,
} from "./open-api-document.ts";
import { capitalized, type ListedOperation, operationIds } from "./operation-ids.ts";
import { parameters } from "./parameters.ts";
import { type PathTemplate, pathTemplates } from "./path-template.ts";
import { problemSchemas } from "./problem-schemas.ts";
import { responses } from "./responses.ts";
import { Security } from "./security.ts";

export type { OpenAPIDocument };

/**
 * Returns the OpenAPI 3.1 document of the listed routes, in their order. Equal routes produce equal documents.
 *
 * Throws `ConfigurationError` if two routes have the same name.
 */
export function buildOpenApiDocument(info: OpenAPIInfo, routes: readonly Route[], hasBudget: boolean): OpenAPIDocument {
  const operations = withSharedNames(
    routes
      .filter(({ description }) => description.isListed)
      .flatMap((route) => pathTemplates(route.path).map((template) => ({ route, template }))),
  );
  const ids = operationIds(operations);
  const components = new Components(problemSchemas);
  const security = new Security();
  // Responses come before requests, so that the plain name belongs to the response schema if the two sides of a schema
  // differ.
  const answers = operations.map(({ route }, index) =>
    responses(route, components, capitalized(ids[index] as string), hasBudget),
  );
  const paths: Record<string, { [M in OpenAPIMethod]?: OpenAPIOperation }> = {};
  for (const [index, { route, template }] of operations.entries()) {
    const described = operation(
      route,
      template,
      ids[index] as string,
      components,
      security.requirements(route),
      answers[index] as OpenAPIOperation["responses"],
    );
    paths[template.path] = { ...paths[template.path], [route.method.toLowerCase()]: described } satisfies OpenAPIPath;
  }
  const tags = new Set(operations.flatMap(({ route }) => route.description.tags));
  return {
    openapi: "3.1.0",
    info,
    ...(tags.size === 0 ? {} : { tags: [...tags].map((name) => ({ name })) }),
    paths,
    components: {
      schemas: components.schemas,
      ...(Object.keys(security.schemes).length === 0 ? {} : { securitySchemes: security.schemes }),
    },
  };
}

function operation(
  route: Route,
  template: PathTemplate,
  operationId: string,
  components: Components,
  security: NonNullable<OpenAPIOperation["security"]>,
  answers: OpenAPIOperation["responses"],
): OpenAPIOperation {
  const { description: words, schemas } = route;
  const hint = capitalized(operationId);
  const taken = parameters(route, template, components, hint);
  return {
    operationId,
    ...(words.summary === undefined ? {} : { summary: words.summary }),
    ...(words.description === undefined ? {} : { description: words.description }),
    ...(words.tags.length === 0 ? {} : { tags: words.tags }),
    ...(words.deprecated ? { deprecated: true } : {}),
    ...(taken.length === 0 ? {} : { parameters: taken }),
    ...(schemas.body === undefined ? {} : { requestBody: requestBody(schemas.body, route, components, hint) }),
    responses: answers,
    ...(security.length === 0 ? {} : { security }),
  };
}

function requestBody(
  body: NonNullable<Route["schemas"]["body"]>,
  { forms = false }: Route,
  components: Components,
  hint: string,
): NonNullable<OpenAPIOperation["requestBody"]> {
  const schema = components.place(jsonSchema(body, "input"), "input", `${hint}Body`);
  const nothing = valueOfNothing(body);
  const isOptional = nothing !== null && !isPromise(nothing);
  const content = {
    "application/json": { schema },
    ...(forms ? { "application/x-www-form-urlencoded": { schema } } : {}),
  };
  return { ...(isOptional ? {} : { required: true }), content };
}

/**
 * `GET /books/:id` and `DELETE /books/:key` share one path in OpenAPI, so both use the parameter names of the first.
 * Two routes with the same method and different patterns keep their own names.
 */
function withSharedNames(operations: readonly ListedOperation[]): readonly ListedOperation[] {
  const first = new Map<string, PathTemplate>();
  const methods = new Set<string>();
  return operations.map(({ route, template }) => {
    const shape = template.parameters.reduce(
      (path, { name, key }) => path.replace(`{${name}}`, key === "*" ? "{*}" : "{}"),
      template.path,
    );
    const shared = first.get(shape);
    const isTaken = methods.has(`${route.method} ${shape}`);
    methods.add(`${route.method} ${shape}`);
    if (shared === undefined) first.set(shape, template);
    if (shared === undefined || isTaken) return { route, template };
    const renamed = template.parameters.map((parameter, at) => ({
      ...parameter,
      name: shared.parameters[at]?.name ?? parameter.name,
    }));
    return { route, template: { ...template, path: shared.path, parameters: renamed } };
  });
}
