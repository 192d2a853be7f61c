import type { JsonSchema, OpenApiResponse } from "./open-api-document.ts";

/** RFC 9457, with the members that every problem of Portico has. */
const Problem: JsonSchema = {
  title: "Problem",
  description: "What went wrong (RFC 9457).",
  type: "object",
  properties: {
    type: { type: "string", format: "uri-reference", description: "The kind of problem.", examples: ["about:blank"] },
    title: { type: "string", description: "What the status means.", examples: ["Not Found"] },
    status: { type: "integer", minimum: 400, maximum: 599, description: "The HTTP status.", examples: [404] },
    detail: { type: "string", description: "What went wrong this time.", examples: ["There is nothing here"] },
    code: { type: "string", description: "What to switch on.", examples: ["not_found"] },
    correlation_id: { type: "string", description: "Of an unexpected error: the id of its line in the server's log." },
  },
  required: ["type", "title", "status", "detail", "code"],
};

const ValidationProblem: JsonSchema = {
  title: "ValidationProblem",
  description: "What does not fit, and where.",
  allOf: [{ $ref: "#/components/schemas/Problem" }],
  type: "object",
  properties: {
    errors: {
      type: "array",
      items: {
        type: "object",
        properties: {
          in: { enum: ["path", "query", "body"], description: "The part of the request." },
          path: {
            type: "array",
            items: { type: ["string", "integer"] },
            description: "The way to it inside that part.",
          },
          message: { type: "string" },
        },
        required: ["in", "path", "message"],
      },
    },
  },
  required: ["errors"],
};

/** The components that every document has. */
export const problemSchemas: { readonly [name: string]: JsonSchema } = { Problem, ValidationProblem };

/** An answer that is a problem. */
export function problemResponse(
  description: string,
  schema: "Problem" | "ValidationProblem" = "Problem",
): OpenApiResponse {
  return {
    description,
    content: { "application/problem+json": { schema: { $ref: `#/components/schemas/${schema}` } } },
  };
}
