import { optional, orFalse, resolveOptions, urlPath } from "../core/resolve-options.ts";

/** The paths of the OpenAPI document and its page. */
export interface OpenAPIOptions {
  /** @default "/openapi.json" */
  readonly document?: string;
  /** The path of the reference page. `false` serves only the document. @default "/docs" */
  readonly page?: string | false;
}

const openApiRules = {
  document: optional(urlPath, "/openapi.json"),
  page: optional(orFalse(urlPath), "/docs"),
};

export function readOpenApiOptions(options: OpenAPIOptions): Required<OpenAPIOptions> {
  return resolveOptions("PorticoApp.openapi", options, openApiRules);
}
