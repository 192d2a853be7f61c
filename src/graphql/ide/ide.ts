import { flag, oneOf, optional, resolveOptions, text } from "../../core/resolve-options.ts";

/** The source of the explorer's scripts and styles. */
export type IDEAssets = "bundled" | "cdn";

/** The options of the explorer, GraphiQL. */
export interface IDEOptions {
  /** Whether it is served. @default true */
  readonly enabled?: boolean;
  /** `"bundled"` serves everything in one page; `"cdn"` serves a small page that loads pinned files. @default "bundled" */
  readonly assets?: IDEAssets;
  /** The title of the page. @default "GraphiQL" */
  readonly title?: string;
  /** The first content of the editor, for new visitors. @default GraphiQL's welcome text */
  readonly query?: string;
}

const ideRules = {
  enabled: optional(flag, true),
  assets: optional(oneOf("bundled", "cdn"), "bundled"),
  title: optional(text, "GraphiQL"),
  query: text,
};

/**
 * The explorer of an endpoint. An invalid value throws `ConfigurationError`.
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

  /** Accepts `true`, `false` and a plain object with the same options too. */
  static from(value: boolean | IDE | IDEOptions): IDE {
    if (typeof value === "boolean") return new IDE({ enabled: value });
    return value instanceof IDE ? value : new IDE(value);
  }
}
