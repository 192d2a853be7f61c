import { CursorKeys } from "../../../src/pagination/cursor/cursor-keys.ts";
import type { AnyHandler } from "../../../src/pagination/handlers/data-handler.ts";
import type { KeyTuple } from "../../../src/pagination/keys/key-tuple.ts";
import { CursorList } from "../../../src/pagination/pages/cursor-list.ts";
import type { PageRequest } from "../../../src/pagination/pages/page-request.ts";
import type { CursorPagination } from "../../../src/pagination/strategies/cursor-pagination.ts";

/** A request for the first page of a list, without a server. */
export const firstPage: PageRequest = {
  params: {},
  baseUrl: "http://localhost/items",
  search: "",
  place: "/items",
  keys: new CursorKeys(["a secret of at least thirty-two bytes"]),
  signal: new AbortController().signal,
  now: () => Date.now(),
  warn: () => {},
};

/** Returns the request for the page after a key. */
export function pageAfter(
  key: KeyTuple,
  strategy: CursorPagination<any>,
  handler: AnyHandler<unknown>,
  request: PageRequest = firstPage,
): PageRequest {
  const cursor = new CursorList(strategy, handler, request).seal({ direction: "forward", at: { key } });
  return { ...request, params: { cursor } };
}
