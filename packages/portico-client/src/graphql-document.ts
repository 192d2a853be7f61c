import type { RequestOptions } from "./request.ts";

/**
 * A GraphQL document with the types of its result and variables: a `TypedDocumentNode`, a document of gql.tada, or the
 * `TypedDocumentString` of graphql-codegen.
 */
export interface GraphQLDocument<Result, Variables> {
  // The name by which these libraries carry the types.
  __apiType?: (variables: Variables) => Result;
}

/** The options of an operation: its variables, unless it has none. */
export type OperationOptions<Variables> = RequestOptions &
  ({} extends Variables ? { readonly variables?: Variables } : { readonly variables: Variables });
