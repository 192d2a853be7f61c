import type { FieldNode, GraphQLObjectType, GraphQLOutputType, GraphQLResolveInfo } from "graphql";
import { isGraphql17 } from "./is-graphql17.ts";
import type { Path, Run } from "./run.ts";

/** The facts about a field that its resolver receives in `info`. */
export interface InfoSource {
  readonly name: string;
  readonly nodes: readonly FieldNode[];
  readonly type: GraphQLOutputType;
  readonly parentType: GraphQLObjectType;
}

/** Builds graphql's resolve info, with the members that the installed major has. */
export const resolveInfo: (run: Run, field: InfoSource, path: Path) => GraphQLResolveInfo = isGraphql17
  ? (run, field, path) => {
      const { getAbortSignal, getAsyncHelpers } = run.signal;
      return Object.assign(infoOf16(run, field, path), { getAbortSignal, getAsyncHelpers });
    }
  : infoOf16;

function infoOf16(run: Run, field: InfoSource, path: Path): GraphQLResolveInfo {
  const { schema, fragments, operation } = run.frame;
  return {
    fieldName: field.name,
    // A resolver that changes its list must not change the plan.
    fieldNodes: [...field.nodes],
    returnType: field.type,
    parentType: field.parentType,
    path,
    schema,
    fragments,
    rootValue: run.rootValue,
    operation,
    variableValues: run.variableValues as GraphQLResolveInfo["variableValues"],
  };
}
