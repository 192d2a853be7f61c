import type { OpenApiSecurityScheme } from "../http/routing/open-api-security-scheme.ts";

export type { OpenApiSecurityScheme };

/** A JSON Schema (draft 2020-12). */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
}

/** The parts of an OpenAPI 3.1 document that Portico writes. */
export interface OpenApiDocument {
  readonly openapi: "3.1.0";
  readonly info: OpenApiInfo;
  readonly servers?: readonly OpenApiServer[];
  readonly tags?: readonly { readonly name: string }[];
  readonly paths: { readonly [path: string]: OpenApiPath };
  readonly components: OpenApiComponents;
}

/** The title, version and description of the API. */
export interface OpenApiInfo {
  readonly title: string;
  readonly version: string;
  readonly description?: string;
}

/** A base URL of the API. A relative URL starts at the document. */
export interface OpenApiServer {
  readonly url: string;
  readonly description?: string;
}

export type OpenApiMethod = "get" | "post" | "put" | "patch" | "delete" | "head" | "options";

/** The operations of one path, by method. */
export type OpenApiPath = { readonly [M in OpenApiMethod]?: OpenApiOperation };

export interface OpenApiOperation {
  readonly operationId: string;
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly deprecated?: true;
  readonly parameters?: readonly OpenApiParameter[];
  readonly requestBody?: OpenApiRequestBody;
  /** Responses by status, with `default` for all others. */
  readonly responses: { readonly [status: string]: OpenApiResponse };
  /** Any one of these is enough. An empty one allows anonymous requests. */
  readonly security?: readonly OpenApiSecurityRequirement[];
}

export interface OpenApiParameter {
  readonly name: string;
  readonly in: "path" | "query";
  readonly required?: true;
  readonly description?: string;
  readonly deprecated?: true;
  readonly style?: "form";
  readonly explode?: boolean;
  readonly schema: JsonSchema;
}

export interface OpenApiRequestBody {
  readonly required?: true;
  readonly content: OpenApiContent;
}

export interface OpenApiResponse {
  readonly description: string;
  readonly headers?: { readonly [name: string]: { readonly description: string; readonly schema: JsonSchema } };
  readonly content?: OpenApiContent;
}

/** Schemas by media type. */
export interface OpenApiContent {
  readonly [mediaType: string]: { readonly schema: JsonSchema };
}

/** Names of security schemes that are all required together. */
export interface OpenApiSecurityRequirement {
  readonly [scheme: string]: readonly string[];
}

export interface OpenApiComponents {
  readonly schemas: { readonly [name: string]: JsonSchema };
  readonly securitySchemes?: { readonly [name: string]: OpenApiSecurityScheme };
}
