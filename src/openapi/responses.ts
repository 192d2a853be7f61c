import { nodeHttp } from "../core/node-http.ts";
import type { Route } from "../http/routing/route.ts";
import { isSchema, misfitStatus, type Schema } from "../http/routing/schema.ts";
import { ratesOf } from "../kernel/limits/rate-limit.ts";
import type { Components } from "./components.ts";
import { jsonSchema } from "./json-schema.ts";
import type { OpenAPIResponse } from "./open-api-document.ts";
import { pageResponse } from "./page-response.ts";
import { problemResponse } from "./problem-schemas.ts";

/** Returns the responses of a route by status: the declared ones, and the problems that its options can cause. */
export function responses(
  route: Route,
  components: Components,
  hint: string,
  hasBudget: boolean,
): { readonly [status: string]: OpenAPIResponse } {
  const { response, paginated, params, schemas, auth, errors, idempotent } = route;
  const refusals = tooManyRequests(route, hasBudget);
  const declared = response === undefined ? {} : isSchema(response) ? { 200: response } : response;
  const hints = isSchema(response) ? () => `${hint}Response` : (status: string) => `${hint}Response${status}`;
  const misfits = Object.values(schemas).flatMap((schema) => (schema === undefined ? [] : [misfitStatus(schema)]));
  return {
    ...(response === undefined && paginated === undefined ? { 200: { description: describe(200) } } : {}),
    ...(paginated === undefined ? {} : { 400: problemResponse(describe(400)) }),
    ...(paginated === undefined || paginated.item === null
      ? {}
      : { 200: pageResponse(paginated, paginated.item, components, hint) }),
    ...(auth?.required === true ? { 401: problemResponse(describe(401)), 403: problemResponse(describe(403)) } : {}),
    ...(params.some(({ subject }) => subject !== null) ? { 404: problemResponse(describe(404)) } : {}),
    ...(schemas.body === undefined && idempotent === undefined ? {} : { 400: problemResponse(describe(400)) }),
    ...(misfits.includes(422) ? { 422: problemResponse(describe(422), "ValidationProblem") } : {}),
    ...(idempotent === undefined ? {} : keyResponses),
    ...(refusals.length === 0 ? {} : { 429: problemResponse(`${describe(429)}: ${refusals.join(", or ")}`) }),
    ...Object.fromEntries(Object.entries(errors).map(([status, words]) => [status, problemResponse(words)])),
    ...Object.fromEntries(
      Object.entries(declared).map(([status, schema]) => [
        status,
        jsonResponse(Number(status), schema, components, hints(status)),
      ]),
    ),
    default: problemResponse("Any other problem"),
  };
}

/** The problems of a request with an idempotency key. */
const keyResponses: { readonly [status: string]: OpenAPIResponse } = {
  409: problemResponse(
    "Conflict: another request with this idempotency key is in progress, or was done and its response cannot be sent again",
  ),
  422: problemResponse(
    "Unprocessable Entity: the request does not fit its schema, or its idempotency key was used for another request",
  ),
};

/** The reasons for a 429, in words. */
function tooManyRequests({ middleware, cost }: Route, hasBudget: boolean): readonly string[] {
  const rates = ratesOf(middleware);
  return [
    ...(rates.length === 0 ? [] : [`the limit is ${rates.join(" and ")}`]),
    ...(hasBudget && cost > 0 ? ["the caller's budget is used up"] : []),
  ];
}

function jsonResponse(status: number, schema: Schema | null, components: Components, hint: string): OpenAPIResponse {
  if (schema === null) return { description: describe(status) };
  const placed = components.place(jsonSchema(schema, "output"), "output", hint);
  return { description: describe(status), content: { "application/json": { schema: placed } } };
}

function describe(status: number): string {
  return nodeHttp.STATUS_CODES[status] ?? String(status);
}
