import type { CursorKeys } from "../cursor/cursor-keys.ts";
import type { ListScope } from "../handlers/list-scope.ts";
import type { QueryParams } from "../query/query-params.ts";

/**
 * Everything that a page depends on other than its strategy and its source. Routes create it from a request, and
 * connections from a field.
 */
export interface PageRequest {
  readonly params: QueryParams;
  /** The URL of the list, without a query. */
  readonly baseUrl: string;
  /** The query as it was sent, without its question mark. */
  readonly search?: string;
  /** The name of a list whose handler has none: the route's pattern or the field's coordinate. */
  readonly place: string;
  /** Values of the author that cursors are bound to. */
  readonly cursorScope?: Readonly<Record<string, unknown>>;
  /** The authorization rule of the list. Cursors are bound to its name. */
  readonly scope?: ListScope;
  /** Read only when a cursor is opened or created. */
  readonly keys: CursorKeys;
  /** Read only by handlers that use it. */
  readonly signal: AbortSignal;
  /** Milliseconds since 1970. */
  now(): number;
  /** Logs a warning once about code that is valid but probably not intended. */
  warn(sentence: string): void;
}
