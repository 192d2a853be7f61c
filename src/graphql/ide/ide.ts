import { flag, optional, resolveOptions, rule, text } from "../../core/resolve-options.ts";

/** Where the explorer's scripts and styles come from. */
export type IDEAssets = "bundled" | "cdn";

/** Whether and how the endpoint shows an explorer to browsers. */
export interface IDEOptions {
  /** Whether it is served. @default true */
  readonly enabled?: boolean;
  /** `"bundled"`: all of it is in the page, nothing is fetched. `"cdn"`: a small page that loads pinned files from a CDN. @default "bundled" */
  readonly assets?: IDEAssets;
  /** The title of the page. @default "GraphiQL" */
  readonly title?: string;
  /** What stands in the editor of somebody who opens it for the first time. @default GraphiQL's own words of welcome */
  readonly query?: string;
}

const ideRules = {
  enabled: optional(flag, true),
  assets: optional(
    rule<IDEAssets>('"bundled" or "cdn"', (value) => value === "bundled" || value === "cdn"),
    "bundled",
  ),
  title: optional(text, "GraphiQL"),
  query: text,
};

/**
 * The explorer of an endpoint. A wrong value throws `ConfigurationError` here.
 *
 * @example
 * ```ts
 * import { IDE } from "portico/graphql";
 *
 * export const ide = new IDE({ enabled: process.env["NODE_ENV"] !== "production", title: "Bookshop" });
 * ```
 */
export class IDE implements Omit<Required<IDEOptions>, "query"> {
  readonly enabled: boolean;
  readonly assets: IDEAssets;
  readonly title: string;
  readonly query: string | null;

  constructor(options: IDEOptions = {}) {
    const resolved = resolveOptions("IDE", options, ideRules);
    this.enabled = resolved.enabled;
    this.assets = resolved.assets;
    this.title = resolved.title;
    this.query = resolved.query ?? null;
  }

  /** Takes `true`, `false` and a plain object of the same shape too. */
  static from(value: boolean | IDE | IDEOptions): IDE {
    if (typeof value === "boolean") return new IDE({ enabled: value });
    return value instanceof IDE ? value : new IDE(value);
  }
}
