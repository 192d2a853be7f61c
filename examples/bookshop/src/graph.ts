import { rateLimit } from "portico";
import { Graph, type OperationHook, schema } from "portico/graphql";
import { accountMutations, accountQueries } from "./accounts/account-fields.ts";
import { authorQueries } from "./authors/author-fields.ts";
import { bookQueries } from "./books/book-fields.ts";
import { bookMutations } from "./books/book-mutations.ts";
import { stockNews } from "./books/stock-news.ts";
import { orderMutations, orderNews, orderQueries } from "./orders/order-fields.ts";
import { reviewMutations } from "./reviews/review-mutations.ts";
import { searchQueries } from "./search/search-fields.ts";
import { settings } from "./settings.ts";

/** The schema, built from the fields of each subject. */
const shopSchema = schema({
  query: [accountQueries, authorQueries, bookQueries, orderQueries, searchQueries],
  mutation: [accountMutations, bookMutations, orderMutations, reviewMutations],
  subscription: [orderNews, stockNews],
});

/** The endpoint at /graphql: queries, mutations, uploads, subscriptions, and GraphiQL for browsers. */
export function shopGraph(hooks: readonly OperationHook[]): Graph {
  const graph = new Graph(shopSchema, {
    ide: { enabled: !settings.isProduction, title: "Bookshop", query: FIRST_QUERY },
    uploads: { enabled: true, maxSize: "2mb", maxFiles: 1, maxTotal: "2mb", contentTypes: ["image/png", "image/jpeg"] },
    middleware: [rateLimit({ perMinute: 6_000, name: "graph" })],
  });
  for (const hook of hooks) graph.onOperation(hook);
  return graph;
}

const FIRST_QUERY = `query Newest {
  books(first: 3) {
    nodes {
      title
      author { name }
    }
  }
}
`;
