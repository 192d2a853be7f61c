import { CursorPagination } from "portico/pagination";

/** The pages of orders, in the route and in GraphQL. */
export const orderPages = new CursorPagination({
  order: [
    ["createdAt", "desc"],
    ["id", "desc"],
  ],
  sortable: ["createdAt", "totalCents"],
  filterable: {
    status: { type: "text", by: ["equal"] },
    totalCents: { type: "integer", by: ["range"] },
  },
  cursorParam: "after",
  pageSizeParam: "limit",
  totals: "exact",
});
