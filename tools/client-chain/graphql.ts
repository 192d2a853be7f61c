import { initGraphQLTada } from "gql.tada";
import type { introspection } from "./generated/introspection.d.ts";

/** Writes typed documents for the bookshop. */
export const graphql = initGraphQLTada<{ introspection: introspection; scalars: { DateTime: string } }>();
