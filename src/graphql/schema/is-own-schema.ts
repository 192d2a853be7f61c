import type { GraphQLSchema } from "graphql";

const schemas = new WeakSet<GraphQLSchema>();

/** Whether `schema()` built it. */
export function isOwnSchema(schema: GraphQLSchema): boolean {
  return schemas.has(schema);
}

/** Notes that `schema()` built it. */
export function noteOwnSchema(schema: GraphQLSchema): void {
  schemas.add(schema);
}
