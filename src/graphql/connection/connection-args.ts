import type { Position } from "../../pagination/cursor/seal-cursor.ts";
import type { CursorList } from "../../pagination/cursor-page.ts";
import type { Order } from "../../pagination/order.ts";
import {
  InvalidCursorError,
  InvalidPageError,
  InvalidPageSizeError,
  InvalidSortError,
  PaginationError,
} from "../../pagination/pagination-error.ts";
import { readSize } from "../../pagination/query-params.ts";
import { sortOrder } from "../../pagination/read-sort.ts";
import type { CursorPagination } from "../../pagination/strategies/cursor-pagination.ts";
import { arg } from "../types/arg.ts";
import type { Arg } from "../types/graph-type.ts";
import { list, nullable } from "../types/list-type.ts";
import { int, string } from "../types/scalars.ts";

type Place = NonNullable<Position["at"]>;

/** What a connection was asked for. */
export interface Wanted {
  readonly direction: Position["direction"];
  readonly size: number;
  /** Where it starts from, going in the direction; `null` is the beginning, or going backward the end. */
  readonly near: Place | null;
  /** Where it ends at the latest. */
  readonly far: Place | null;
  /** The argument that the start came from, for errors. */
  readonly parameter: "after" | "before";
}

/** The arguments of a page, as graphql has coerced them. */
export interface ConnectionArgs {
  readonly first?: number | null;
  readonly after?: string | null;
  readonly last?: number | null;
  readonly before?: string | null;
  /** Only where the strategy is sortable. */
  readonly sort?: readonly string[] | null;
}

/** The same in the schema, but for the sorting. */
export const connectionArgs: Readonly<Record<Exclude<keyof ConnectionArgs, "sort">, Arg<any>>> = {
  first: arg(nullable(int), { description: "At most so many, from the beginning or from after." }),
  after: arg(nullable(string), { description: "The cursor that the items stand behind." }),
  last: arg(nullable(int), { description: "At most so many, back from the end or from before." }),
  before: arg(nullable(string), { description: "The cursor that the items stand in front of." }),
};

/** The argument of the sorting, where the strategy leaves that to the client. */
export function sortArgs(strategy: CursorPagination<any>): Readonly<Record<string, Arg<any>>> {
  const { sort } = strategy;
  if (sort === null) return {};
  const description = `What to sort by, of ${sort.columns.join(", ")}, with - in front for descending.`;
  return { sort: arg(nullable(list(string)), { description }) };
}

/** The order that the arguments ask for; `undefined` when they ask for none. Throws `InvalidSortError`. */
export function readSorting(strategy: CursorPagination<any>, { sort: names }: ConnectionArgs): Order | undefined {
  const { sort } = strategy;
  // Of a strategy that is not sortable it is an argument of the author's own.
  if (sort === null || names === null || names === undefined) return undefined;
  return blaming("sort", () => sortOrder(names, { ...sort, parameter: "sort" }));
}

/** Reads the arguments. Throws a `PaginationError` with the code `BAD_USER_INPUT`; nothing is fetched before. */
export function readWanted(strategy: CursorPagination<any>, list: CursorList<unknown>, args: ConnectionArgs): Wanted {
  const first = readCount(strategy, "first", args.first);
  const last = readCount(strategy, "last", args.last);
  if (first !== null && last !== null)
    throw new InvalidPageSizeError("first and last cannot be given together", {
      parameter: "last",
      code: "BAD_USER_INPUT",
    });
  const after = readPlace(list, "after", args.after);
  const before = readPlace(list, "before", args.before);
  // Before a place and nothing else: the items next to it, as a page that goes back gives them.
  const isBackward = last !== null || (first === null && after === null && before !== null);
  const size = first ?? last ?? strategy.size.fallback;
  return isBackward
    ? { direction: "backward", size, near: before, far: after, parameter: "before" }
    : { direction: "forward", size, near: after, far: before, parameter: "after" };
}

function readCount(
  strategy: CursorPagination<any>,
  parameter: "first" | "last",
  value: ConnectionArgs["first"],
): number | null {
  if (value === null || value === undefined) return null;
  return blaming(parameter, () => readSize({ [parameter]: String(value) }, parameter, { ...strategy.size, least: 0 }));
}

/** Cursors of routes lead one way; here the argument says which. Of a key the two are the same place. */
function readPlace(
  list: CursorList<unknown>,
  parameter: "after" | "before",
  value: ConnectionArgs["after"],
): Place | null {
  if (value === null || value === undefined) return null;
  const { at, direction } = blaming(parameter, () => list.open(value));
  // An end of the list: before the last, or after the first, is from there on.
  if (at === null && (parameter === "before") === (direction === "backward")) return null;
  if (at === null) throw new InvalidCursorError({ parameter, code: "BAD_USER_INPUT" });
  if ("key" in at) return at;
  // An offset lies on one side of its item: a forward cursor's behind it, a backward one's in front.
  if (parameter === "after") return { offset: direction === "forward" ? at.offset : at.offset + 1 };
  return { offset: direction === "backward" ? at.offset : Math.max(0, at.offset - 1) };
}

/** Runs it; a pagination error then names the argument, and has the code of GraphQL's clients. */
function blaming<T>(parameter: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw asUserInput(error, parameter);
  }
}

/** A pagination error as a field gives it; any other as it is. */
export function asUserInput(error: unknown, parameter: string): unknown {
  if (!(error instanceof PaginationError)) return error;
  const options = { parameter, code: "BAD_USER_INPUT", cause: error };
  if (error instanceof InvalidCursorError) return new InvalidCursorError(options);
  const Kind = [InvalidPageError, InvalidSortError].find((kind) => error instanceof kind) ?? InvalidPageSizeError;
  return new Kind(error.message, options);
}
