import { CursorPagination } from "portico/pagination";

/**
 * The pages of orders, in the route and in GraphQL. The route describes its body with its own schema, so each column that
 * clients sort or filter by says that it is public to everyone who may see the order.
 */
export const orderPages = new CursorPagination({
  order: [
    ["createdAt", "desc"],
    ["id", "desc"],
  ],
  sortable: [
    { column: "createdAt", public: true },
    { column: "totalCents", public: true },
  ],
  filterable: {
    status: { type: "text", by: ["equal"], public: true },
    totalCents: { type: "integer", by: ["range"], public: true },
  },
  cursorParam: "after",
  pageSizeParam: "limit",
  totals: "exact",
});
