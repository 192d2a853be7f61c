import { CursorPagination } from "portico/pagination";
import { tableHandler } from "portico/sql";
import { database } from "../database.ts";

/** The route and the connection share this strategy, so a cursor of one works in the other. */
export const newestFirst = new CursorPagination({
  order: [
    ["created_at", "desc"],
    ["id", "desc"],
  ],
  defaultPageSize: 20,
  maxPageSize: 100,
});

export const noteList = () => tableHandler(database.selectFrom("notes").selectAll());
