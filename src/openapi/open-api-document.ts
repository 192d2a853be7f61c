import type { OpenApiSecurityScheme } from "../http/routing/open-api-security-scheme.ts";

export type { OpenApiSecurityScheme };

/** A JSON Schema of draft 2020-12. */
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

/** What the whole API says of itself. */
export interface OpenApiInfo {
  readonly title: string;
  readonly version: string;
  readonly description?: string;
}

/** Where the API is reached; a relative address starts where the document is. */
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
  /** By status, and `default` for every other one. */
  readonly responses: { readonly [status: string]: OpenApiResponse };
  /** One of these is enough; an empty one stands for nobody. */
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

/** A schema per media type. */
export interface OpenApiContent {
  readonly [mediaType: string]: { readonly schema: JsonSchema };
}

/** Names of security schemes; all of them together are required. */
export interface OpenApiSecurityRequirement {
  readonly [scheme: string]: readonly string[];
}

export interface OpenApiComponents {
  readonly schemas: { readonly [name: string]: JsonSchema };
  readonly securitySchemes?: { readonly [name: string]: OpenApiSecurityScheme };
}
