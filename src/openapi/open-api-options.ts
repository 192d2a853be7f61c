import { optional, resolveOptions, rule } from "../core/resolve-options.ts";

/** Where the OpenAPI document and its page are served. */
export interface OpenApiOptions {
  /** @default "/openapi.json" */
  readonly document?: string;
  /** The page that shows it; `false` serves the document alone. @default "/docs" */
  readonly page?: string | false;
}

const openApiRules = {
  document: optional(
    rule<string>('a path that begins with "/"', (value) => typeof value === "string" && value.startsWith("/")),
    "/openapi.json",
  ),
  page: optional(
    rule<string | false>(
      'a path that begins with "/", or false',
      (value) => value === false || (typeof value === "string" && value.startsWith("/")),
    ),
    "/docs",
  ),
};

export function readOpenApiOptions(options: OpenApiOptions): Required<OpenApiOptions> {
  return resolveOptions("PorticoApp.openapi", options, openApiRules);
}
