import { isSeekable } from "../../pagination/handlers/data-handler.ts";
import type { Steps } from "../../pagination/handlers/steps.ts";
import type { CursorList, Window } from "../../pagination/pages/cursor-list.ts";
import { askedTotal } from "../../pagination/pages/offset-page.ts";
import type { PageRequest } from "../../pagination/pages/page-request.ts";
import type { Wanted } from "./connection-args.ts";

/** The items of the page that the arguments select. */
export function* connectionWindow<T>(list: CursorList<T>, wanted: Wanted, request: PageRequest): Steps<Window<T>> {
  if (!isSeekable(list.handler)) return yield* offsetWindow(list, wanted, request);
  const { direction, size, near, far } = wanted;
  const found = yield* list.window(near, direction, size);
  return far === null ? found : yield* cutAt(list, wanted, found);
}

/**
 * Removes the items at or beyond the far end. Only the source can compare two keys in its sort order, so it is queried
 * for the last item before that end, and the items after that one are cut off. If that item is not on the page, the
 * whole page is before the end. A far end that is behind the start is ignored, as in Relay.
 */
function* cutAt<T>(list: CursorList<T>, { direction, near, far }: Wanted, found: Window<T>): Steps<Window<T>> {
  const isForward = direction === "forward";
  const outermost = yield* list.window(far, isForward ? "backward" : "forward", 1);
  const mark = outermost.items.length === 0 ? null : outermost.cursorAt(0, "forward");
  const start = sealed(list, near);
  if (mark === null || mark === start || start === sealed(list, far))
    return part(found, 0, 0, isForward ? { hasNext: false } : { hasPrevious: false });
  const at = found.items.findIndex((_, index) => found.cursorAt(index, "forward") === mark);
  if (at < 0) return found;
  return isForward
    ? part(found, 0, at + 1, { hasNext: false })
    : part(found, at, found.items.length, { hasPrevious: false });
}

function sealed<T>(list: CursorList<T>, at: Wanted["near"]): string | null {
  return at === null ? null : list.seal({ direction: "forward", at });
}

function part<T>(
  window: Window<T>,
  from: number,
  to: number,
  ends: Partial<Pick<Window<T>, "hasNext" | "hasPrevious">>,
): Window<T> {
  const { items, cursorAt } = window;
  return {
    ...window,
    ...ends,
    items: items.slice(from, to),
    cursorAt: (index, way) => cursorAt(from + index, way),
  };
}

/** For a source that cannot seek, both ends are offsets, and the end of the list is its total. */
function* offsetWindow<T>(list: CursorList<T>, wanted: Wanted, request: PageRequest): Steps<Window<T>> {
  const { direction, size, near, far } = wanted;
  const isForward = direction === "forward";
  const end = isForward || near !== null ? null : yield* askedTotal(list.handler, "exact", request);
  const from = offsetOf(near) ?? end ?? 0;
  const limit = offsetOf(far);
  const room = limit === null ? size : Math.max(0, isForward ? limit - from : from - limit);
  const found = yield* list.window({ offset: from }, direction, Math.min(size, room));
  const isCut = limit !== null && room <= size;
  if (isForward) return { ...found, hasNext: found.hasNext && !isCut, hasPrevious: near !== null };
  return { ...found, hasPrevious: found.hasPrevious && !isCut, hasNext: near !== null };
}

function offsetOf(place: Wanted["near"]): number | null {
  return place !== null && "offset" in place ? place.offset : null;
}
