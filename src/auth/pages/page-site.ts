import { posix } from "node:path";
import type { Brand } from "../../http/html/brand.ts";
import type { PageTexts } from "../../http/html/page-texts.ts";
import type { AccountRoute, ResolvedAccountOptions } from "../accounts/account-options.ts";

/** The options of the pages. */
export interface PageOptions extends ResolvedAccountOptions {
  readonly registerPage: string;
  readonly accountPage: string;
  readonly stepUpPage: string;
}

/** The application as one of its pages shows it. */
export interface PageSite {
  readonly options: PageOptions;
  readonly brand: Brand;
  readonly texts: PageTexts;
  /** The value of `accounts`: the path of the account routes. */
  readonly accounts: string;
  /** Whether the application has this account route. */
  readonly has: (route: AccountRoute) => boolean;
  /** The URL of another path, relative to this page. It works under any prefix. URLs of other sites stay as they are. */
  readonly link: (path: string) => string;
}

/**
 * The site for one request.
 *
 * @param page the path of the page's route
 * @param isFolder whether the requested path ends with a slash, so that relative URLs are one level deeper
 */
export function pageSite(
  options: PageOptions,
  brand: Brand,
  accounts: string,
  page: string,
  isFolder: boolean,
): PageSite {
  const from = isFolder ? page : posix.dirname(page);
  return {
    options,
    brand,
    texts: brand.texts,
    accounts,
    has: (route) => !options.except.includes(route),
    link: (path) => (path.startsWith("/") ? `./${posix.relative(from, path)}`.replace(/\/$/, "") : path),
  };
}
