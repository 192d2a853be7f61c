import type { OpenAPISecurityScheme } from "../http/routing/open-api-security-scheme.ts";

export type { OpenAPISecurityScheme };

/** A JSON Schema (draft 2020-12). */
export interface JSONSchema {
  readonly [keyword: string]: unknown;
}

/** The parts of an OpenAPI 3.1 document that Portico writes. */
export interface OpenAPIDocument {
  readonly openapi: "3.1.0";
  readonly info: OpenAPIInfo;
  readonly servers?: readonly OpenAPIServer[];
  readonly tags?: readonly { readonly name: string }[];
  readonly paths: { readonly [path: string]: OpenAPIPath };
  readonly components: OpenAPIComponents;
}

/** The title, version and description of the API. */
export interface OpenAPIInfo {
  readonly title: string;
  readonly version: string;
  readonly description?: string;
}

/** A base URL of the API. A relative URL starts at the document. */
export interface OpenAPIServer {
  readonly url: string;
  readonly description?: string;
}

export type OpenAPIMethod = "get" | "post" | "put" | "patch" | "delete" | "head" | "options";

/** The operations of one path, by method. */
export type OpenAPIPath = { readonly [M in OpenAPIMethod]?: OpenAPIOperation };

export interface OpenAPIOperation {
  readonly operationId: string;
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly deprecated?: true;
  readonly parameters?: readonly OpenAPIParameter[];
  readonly requestBody?: OpenAPIRequestBody;
  /** Responses by status, with `default` for all others. */
  readonly responses: { readonly [status: string]: OpenAPIResponse };
  /** Any one of these is enough. An empty one allows anonymous requests. */
  readonly security?: readonly OpenAPISecurityRequirement[];
}

export interface OpenAPIParameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required?: true;
  readonly description?: string;
  readonly deprecated?: true;
  readonly style?: "form";
  readonly explode?: boolean;
  readonly schema: JSONSchema;
}

export interface OpenAPIRequestBody {
  readonly required?: true;
  readonly content: OpenAPIContent;
}

export interface OpenAPIResponse {
  readonly description: string;
  readonly headers?: { readonly [name: string]: { readonly description: string; readonly schema: JSONSchema } };
  readonly content?: OpenAPIContent;
}

/** Schemas by media type. */
export interface OpenAPIContent {
  readonly [mediaType: string]: { readonly schema: JSONSchema };
}

/** Names of security schemes that are all required together. */
export interface OpenAPISecurityRequirement {
  readonly [scheme: string]: readonly string[];
}

export interface OpenAPIComponents {
  readonly schemas: { readonly [name: string]: JSONSchema };
  readonly securitySchemes?: { readonly [name: string]: OpenAPISecurityScheme };
}
