import { type WalkBatch, walk } from "portico/pagination";
import { bookList } from "./book-lists.ts";
import type { BookRow } from "./book-table.ts";

/** The catalogue as lines of JSON, a batch at a time, with the point to continue from after an interruption. */
export async function* bookExport(
  after: string | null = null,
): AsyncGenerator<{ readonly lines: string; readonly after: string }> {
  for await (const batch of walk(bookList(), { size: 1_000, after }))
    yield { lines: linesOf(batch), after: batch.after };
}

function linesOf({ items }: WalkBatch<BookRow>): string {
  return items.map(({ isbn, title, price_cents }) => `${JSON.stringify({ isbn, title, price_cents })}\n`).join("");
}
