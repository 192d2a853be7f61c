import type { Position } from "../cursor/seal-cursor.ts";
import type { Steps } from "../handlers/steps.ts";
import type { NearPage } from "../strategies/near-page.ts";
import type { CursorList } from "./cursor-list.ts";

/** The current page. */
interface CurrentPage {
  readonly size: number;
  readonly nextCursor: string | null;
  readonly prevCursor: string | null;
}

/**
 * Returns the pages up to `reach` pages away, in list order. The rows between are read, at most `reach - 1` pages in each
 * direction, so the cost does not depend on the depth.
 */
export function* pageBar<T>(
  list: CursorList<T>,
  { size, nextCursor, prevCursor }: CurrentPage,
  reach: number,
): Steps<readonly NearPage[]> {
  const after = nextCursor === null ? [] : yield* cursorsFrom(list, nextCursor, size, reach);
  const before = prevCursor === null ? [] : yield* cursorsFrom(list, prevCursor, size, reach);
  return [
    ...before.map((cursor, at) => ({ offset: -1 - at, cursor })).toReversed(),
    ...after.map((cursor, at) => ({ offset: at + 1, cursor })),
  ];
}

/** The cursors of the pages in one direction, the nearest first. The first one leads to the page next to this one. */
function* cursorsFrom<T>(list: CursorList<T>, first: string, size: number, reach: number): Steps<readonly string[]> {
  const { at, direction }: Position = list.open(first);
  if (reach === 1) return [first];
  const isForward = direction === "forward";
  const { items, hasNext, hasPrevious, cursorAt } = yield* list.window(at, direction, (reach - 1) * size);
  const known = items.length + ((isForward ? hasNext : hasPrevious) ? 1 : 0);
  const cursors = [first];
  for (let passed = size; passed < known; passed += size)
    cursors.push(cursorAt(isForward ? passed - 1 : items.length - passed, direction));
  return cursors;
}
