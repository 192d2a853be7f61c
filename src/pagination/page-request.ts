import type { CursorKeys } from "./cursor/cursor-keys.ts";
import type { QueryParams } from "./query-params.ts";

/** All that a page depends on beside its strategy and its source. A route makes one of its request, a connection of its field. */
export interface PageRequest {
  readonly params: QueryParams;
  /** The address of the list, without a query. */
  readonly baseUrl: string;
  /** The query as it was sent, without its question mark. */
  readonly search?: string;
  /** Names a list whose handler does not: the route's pattern, the field's coordinate. */
  readonly place: string;
  /** Part of a cursor's scope. */
  readonly filter?: Readonly<Record<string, unknown>>;
  /** Read only where a cursor is opened or made. */
  readonly keys: CursorKeys;
  /** Read only by a handler that asks for it. */
  readonly signal: AbortSignal;
  /** Milliseconds since 1970. */
  now(): number;
  /** Tells the author once what is legal and hardly meant. */
  warn(sentence: string): void;
}
