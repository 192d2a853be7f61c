/** The guide pages whose snippets `test/graphql/guide.servers.test.ts` compiles and runs, query by query. */
export const graphqlPages: readonly string[] = [
  "docs/guide/resolvers.md",
  "docs/guide/graphql-types.md",
  "docs/guide/authorization.md",
  "docs/guide/decorators.md",
];
