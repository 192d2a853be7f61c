import type { JSONSchema, OpenAPIResponse } from "./open-api-document.ts";

const errors: JSONSchema = {
  type: "array",
  description: "The parts of the request that do not fit their schema.",
  items: {
    type: "object",
    properties: {
      in: { enum: ["path", "query", "body"], description: "The part of the request." },
      path: {
        type: "array",
        items: { type: ["string", "integer"] },
        description: "The path to the invalid value inside that part.",
      },
      message: { type: "string" },
    },
    required: ["in", "path", "message"],
  },
};

/** RFC 9457, with the members that every problem response of Portico has. */
const Problem: JSONSchema = {
  title: "Problem",
  description: "An error (RFC 9457).",
  type: "object",
  properties: {
    type: {
      type: "string",
      format: "uri-reference",
      description: "The type of the problem.",
      examples: ["about:blank"],
    },
    title: { type: "string", description: "The meaning of the status.", examples: ["Not Found"] },
    status: { type: "integer", minimum: 400, maximum: 599, description: "The HTTP status.", examples: [404] },
    detail: { type: "string", description: "The error in one sentence.", examples: ["Not found"] },
    code: { type: "string", description: "A stable, machine-readable error code.", examples: ["not_found"] },
    correlation_id: {
      type: "string",
      description: "The id of the line in the server's log, if the error was unexpected.",
    },
    errors,
    pending: {
      type: "string",
      description: "The token that completes a sign-in with the second factor, if one is required.",
    },
    methods: {
      type: "array",
      items: { type: "string" },
      description: "The second factors that the user has.",
    },
  },
  required: ["type", "title", "status", "detail", "code"],
};

const ValidationProblem: JSONSchema = {
  title: "ValidationProblem",
  description: "A request that does not fit its schema.",
  allOf: [{ $ref: "#/components/schemas/Problem" }],
  type: "object",
  properties: { errors },
  required: ["errors"],
};

/** The components that every document includes. */
export const problemSchemas: { readonly [name: string]: JSONSchema } = { Problem, ValidationProblem };

/** Describes a problem response. */
export function problemResponse(
  description: string,
  schema: "Problem" | "ValidationProblem" = "Problem",
): OpenAPIResponse {
  return {
    description,
    content: { "application/problem+json": { schema: { $ref: `#/components/schemas/${schema}` } } },
  };
}
