import { defaultFieldResolver, type GraphQLFieldResolver, type GraphQLSchema, isObjectType } from "graphql";
import { withReadsOf } from "../declare/fields/reads-of.ts";
import { FieldTrace } from "../operation/field-trace.ts";

const traced = new WeakSet<GraphQLSchema>();

/**
 * Wraps the resolvers of a schema so that they time themselves if the operation has a trace. It changes the schema, so it
 * runs only when a hook needs traces: without one, fields have no extra cost.
 */
export function traceFields(schema: GraphQLSchema): void {
  if (traced.has(schema)) return;
  traced.add(schema);
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith("__")) continue;
    for (const field of Object.values(type.getFields()))
      field.resolve = withReadsOf(field, timed(`${type.name}.${field.name}`, field.resolve ?? defaultFieldResolver));
  }
}

type Resolver = GraphQLFieldResolver<unknown, unknown>;

function timed(field: string, resolve: Resolver): Resolver {
  return function timedResolver(...call) {
    const { trace } = (call[2] ?? {}) as { readonly trace?: unknown };
    return trace instanceof FieldTrace ? trace.time(field, () => resolve(...call)) : resolve(...call);
  };
}
