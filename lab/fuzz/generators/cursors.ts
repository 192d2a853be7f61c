import type { Generator, Input } from "../input.ts";
import type { Known } from "../known.ts";
import { mutateText, oddText } from "../odd-values.ts";
import { answeredRequest, JSON_TYPE } from "../request-bytes.ts";
import { escaped } from "../routes.ts";
import type { Tape } from "../tape.ts";
import { caller } from "./graphql-operations.ts";

/** Cursors from real pages, changed, and the other parameters of lists. */
export const cursors: Generator = { name: "cursors", groupSize: 300, make };

const LISTS = ["/books/newest", "/orders", "/books", "/books/stock", "/authors"];
const SORTS = [
  "title",
  "-title",
  "added_at",
  "title,-added_at",
  "title,title",
  "-",
  ",",
  "id",
  "cost_cents",
  "constructor",
];

function make(tape: Tape, known: Known): Input {
  const cursor = changed(tape, known);
  if (tape.oneIn(3)) {
    const field = tape.pick(["books", "orders", "myOrders"]);
    const side = tape.pick(["after", "before"]);
    const size = `${tape.pick(["first", "last"])}: ${tape.pick(["3", "0", "-1", "101", "2147483647"])}`;
    const query = `query ($c: String) { ${field}(${side}: $c, ${size}) { totalCount pageInfo { endCursor hasNextPage } } }`;
    return answeredRequest({
      path: "/graphql",
      headers: [...caller(tape, known), JSON_TYPE],
      body: JSON.stringify({ query, variables: { c: cursor } }),
    });
  }
  const parameters = [`cursor=${escaped(cursor)}`, ...tape.some(3, () => parameter(tape))];
  return answeredRequest({ path: `${tape.pick(LISTS)}?${parameters.join("&")}`, headers: caller(tape, known) });
}

const FILTERS = ["genre.in", "priceCents.gte", "priceCents.lt", "title.startsWith", "title", "costCents.gt", "genre."];

function parameter(tape: Tape): string {
  switch (tape.below(7)) {
    case 0:
      return `sort=${escaped(tape.pick(SORTS))}`;
    case 1:
      return `genre=${tape.pick(["poetry", "novel", "", "constructor"])}`;
    case 2:
      return `${tape.pick(["page", "page_size", "limit", "offset"])}=${tape.pick(["1", "0", "-1", "101", "9999", "9007199254740993", "1e9", "+1"])}`;
    case 3:
      return `${tape.pick(FILTERS)}=${tape.pick(["1", "-0", "1e9", "99999999999", "9007199254740993", "poetry,novel", "true", ""])}`;
    case 4:
      return `${tape.pick(FILTERS)}=${escaped(oddText(tape))}`;
    default:
      return `${tape.pick(["page", "page_size", "limit", "offset", "sort", "cursor"])}=${escaped(oddText(tape))}`;
  }
}

function changed(tape: Tape, { cursors }: Known): string {
  const cursor = tape.pick(cursors);
  switch (tape.below(6)) {
    case 1:
    case 2:
      return mutateText(tape, cursor);
    case 3:
      return Buffer.from(mutateText(tape, Buffer.from(cursor, "base64url").toString("latin1")), "latin1").toString(
        "base64url",
      );
    case 4:
      return oddText(tape);
    case 5:
      return cursor.slice(0, cursor.length >> 1) + tape.pick(cursors).slice(cursor.length >> 1);
    default:
      return cursor;
  }
}
