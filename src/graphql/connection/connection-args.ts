import { isInstance } from "../../core/describe-error.ts";
import type { Position } from "../../pagination/cursor/seal-cursor.ts";
import type { CursorList } from "../../pagination/pages/cursor-list.ts";
import {
  InvalidCursorError,
  InvalidFilterError,
  InvalidPageError,
  InvalidPageSizeError,
  InvalidSortError,
  PaginationError,
} from "../../pagination/query/pagination-error.ts";
import { readSize } from "../../pagination/query/query-params.ts";
import type { CursorPagination } from "../../pagination/strategies/cursor-pagination.ts";
import { arg } from "../declare/references/arg.ts";
import type { Arg } from "../declare/references/graph-type.ts";
import { nullable } from "../declare/types/list-type.ts";
import { int, string } from "../declare/types/scalars.ts";

type Place = NonNullable<Position["at"]>;

/** The page that the arguments of a connection select. */
export interface Wanted {
  readonly direction: Position["direction"];
  readonly size: number;
  /** The position to start from; `null` is the start of the list, or its end when paging backward. */
  readonly near: Place | null;
  /** The position at which the page ends at the latest. */
  readonly far: Place | null;
  /** The argument with the start position, for errors. */
  readonly parameter: "after" | "before";
}

/** The paging arguments, as coerced by graphql. */
export interface ConnectionArgs {
  readonly first?: number | null;
  readonly after?: string | null;
  readonly last?: number | null;
  readonly before?: string | null;
  /** Present only if the strategy is sortable. */
  readonly sort?: readonly string[] | null;
  /** Present only if the strategy is filterable. */
  readonly filter?: Readonly<Record<string, unknown>> | null;
}

/** The paging arguments in the schema, without `sort` and `filter`. */
export const connectionArgs: Readonly<Record<Exclude<keyof ConnectionArgs, "sort" | "filter">, Arg<any>>> = {
  first: arg(nullable(int), {
    description: "The maximum number of items, from the start of the list or after the cursor in after.",
  }),
  after: arg(nullable(string), { description: "Returns the items after this cursor." }),
  last: arg(nullable(int), {
    description: "The maximum number of items, from the end of the list or before the cursor in before.",
  }),
  before: arg(nullable(string), { description: "Returns the items before this cursor." }),
};

/** Reads the arguments before anything is fetched. Throws a `PaginationError` with the code `BAD_USER_INPUT`. */
export function readWanted(
  strategy: CursorPagination<any, any>,
  list: CursorList<unknown>,
  args: ConnectionArgs,
): Wanted {
  const first = readCount(strategy, "first", args.first);
  const last = readCount(strategy, "last", args.last);
  if (first !== null && last !== null)
    throw new InvalidPageSizeError("first and last cannot be used together", {
      parameter: "last",
      code: "BAD_USER_INPUT",
    });
  const after = readPlace(list, "after", args.after);
  const before = readPlace(list, "before", args.before);
  // Only before is set: the page holds the items next to it, as the previous page of a route does.
  const isBackward = last !== null || (first === null && after === null && before !== null);
  const size = first ?? last ?? strategy.size.fallback;
  return isBackward
    ? { direction: "backward", size, near: before, far: after, parameter: "before" }
    : { direction: "forward", size, near: after, far: before, parameter: "after" };
}

function readCount(
  strategy: CursorPagination<any, any>,
  parameter: "first" | "last",
  value: ConnectionArgs["first"],
): number | null {
  if (value === null || value === undefined) return null;
  return blaming(parameter, () => readSize({ [parameter]: String(value) }, parameter, { ...strategy.size, least: 0 }));
}

/** A cursor of a route has a direction; here the argument sets it. For a key, both directions are the same position. */
function readPlace(
  list: CursorList<unknown>,
  parameter: "after" | "before",
  value: ConnectionArgs["after"],
): Place | null {
  if (value === null || value === undefined) return null;
  const { at, direction } = blaming(parameter, () => list.open(value));
  // The cursor is an end of the list: paging backward from its end, or forward from its start, has no start position.
  if (at === null && (parameter === "before") === (direction === "backward")) return null;
  if (at === null) throw new InvalidCursorError({ parameter, code: "BAD_USER_INPUT" });
  if ("key" in at) return at;
  // The offset of a forward cursor is behind its item, the offset of a backward cursor is in front of it.
  if (parameter === "after") return { offset: direction === "forward" ? at.offset : at.offset + 1 };
  return { offset: direction === "backward" ? at.offset : Math.max(0, at.offset - 1) };
}

/** Runs the function. A pagination error that it throws names the argument and has the code for GraphQL clients. */
export function blaming<T>(parameter: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw asUserInput(error, parameter);
  }
}

/** Gives a pagination error the argument and the code `BAD_USER_INPUT`. Other errors are unchanged. */
export function asUserInput(error: unknown, parameter: string): unknown {
  if (!isInstance(error, PaginationError)) return error;
  const { message } = error;
  const options = { parameter, code: "BAD_USER_INPUT", cause: error };
  if (isInstance(error, InvalidCursorError)) return new InvalidCursorError(options);
  const Kind =
    [InvalidPageError, InvalidSortError, InvalidFilterError].find((kind) => isInstance(error, kind)) ??
    InvalidPageSizeError;
  return new Kind(message, options);
}
