import {
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isObjectType,
  isRequiredArgument,
} from "graphql";
import type { Step } from "./operation-for.ts";

/** A field with required arguments usually looks for one object, and a dummy finds none. */
const COST_OF_ARGUMENTS = 10;
/** The highest cost of a way. */
const MAX_COST = 40;
/** The number of ways to one type. The shortest may lead to an empty list. */
const MAX_WAYS = 6;

interface Way {
  readonly type: GraphQLObjectType;
  readonly steps: readonly Step[];
}

/** The cheapest ways from the query type to objects of each type, through the fields that `isOpen` allows. */
export function waysToTypes(
  schema: GraphQLSchema,
  isOpen: (step: Step) => boolean,
): ReadonlyMap<string, readonly (readonly Step[])[]> {
  const found = new Map<string, (readonly Step[])[]>();
  const root = schema.getQueryType();
  // The ways that are still to be extended, by their cost.
  const waiting: Way[][] = Array.from({ length: MAX_COST + 1 }, () => []);
  if (isObjectType(root)) waiting[0]?.push({ type: root, steps: [] });
  // A way that is added meanwhile costs more.
  for (const [cost, ways] of waiting.entries())
    for (const { type, steps } of ways) {
      const known = found.get(type.name) ?? [];
      if (known.length === MAX_WAYS) continue;
      found.set(type.name, [...known, steps]);
      for (const field of Object.values(type.getFields())) {
        const step: Step = { owner: type.name, field };
        const total = cost + 1 + (field.args.some(isRequiredArgument) ? COST_OF_ARGUMENTS : 0);
        if (total > MAX_COST || !isOpen(step)) continue;
        for (const next of objectsOf(schema, getNamedType(field.type)))
          if (!steps.some(({ owner }) => owner === next.name))
            waiting[total]?.push({ type: next, steps: [...steps, step] });
      }
    }
  return found;
}

function objectsOf(schema: GraphQLSchema, type: GraphQLNamedType): readonly GraphQLObjectType[] {
  if (isAbstractType(type)) return schema.getPossibleTypes(type);
  return isObjectType(type) ? [type] : [];
}
