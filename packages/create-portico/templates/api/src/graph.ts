import { Graph, schema } from "portico/graphql";
import { accountQueries } from "./accounts/account-fields.ts";
import { noteMutations, noteQueries } from "./notes/note-fields.ts";
import { settings } from "./settings.ts";

/** The endpoint at /graphql, with GraphiQL for browsers outside production. */
export function graph(): Graph {
  const built = schema({ query: [accountQueries, noteQueries], mutation: [noteMutations] });
  return new Graph(built, { ide: !settings.isProduction });
}
