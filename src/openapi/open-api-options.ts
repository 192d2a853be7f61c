import { optional, optionRule, resolveOptions } from "../core/resolve-options.ts";

/** The paths of the OpenAPI document and its page. */
export interface OpenApiOptions {
  /** @default "/openapi.json" */
  readonly document?: string;
  /** The path of the reference page. `false` serves only the document. @default "/docs" */
  readonly page?: string | false;
}

const openApiRules = {
  document: optional(
    optionRule<string>('a path that begins with "/"', (value) => typeof value === "string" && value.startsWith("/")),
    "/openapi.json",
  ),
  page: optional(
    optionRule<string | false>(
      'a path that begins with "/", or false',
      (value) => value === false || (typeof value === "string" && value.startsWith("/")),
    ),
    "/docs",
  ),
};

export function readOpenApiOptions(options: OpenApiOptions): Required<OpenApiOptions> {
  return resolveOptions("PorticoApp.openapi", options, openApiRules);
}
