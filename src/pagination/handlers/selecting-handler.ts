import { type AnyHandler, isDataHandler, isSelecting } from "./data-handler.ts";
import { DataHandlerInvalid } from "./totals.ts";

/** Returns the handler for these columns, or the handler itself if they are unknown or it cannot leave out others. */
export function selectingHandler<T>(handler: AnyHandler<T>, columns: readonly string[] | null): AnyHandler<T> {
  if (columns === null || !isSelecting(handler)) return handler;
  const part: unknown = handler.selecting(columns);
  if (isDataHandler(part)) return part as AnyHandler<T>;
  throw new DataHandlerInvalid(handler, "did not return a data handler from selecting");
}
