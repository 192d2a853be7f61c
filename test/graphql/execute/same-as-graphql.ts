import {
  buildSchema,
  type ExecutionResult,
  execute,
  type GraphQLFieldResolver,
  type GraphQLObjectType,
  type GraphQLSchema,
  getOperationAST,
  type OperationDefinitionNode,
  parse,
} from "graphql";
import { expect } from "vitest";
import { Plan } from "../../../src/graphql/execute/plan/plan.ts";
import { seen } from "./same-result.ts";

export type Resolver = GraphQLFieldResolver<any, any>;

/** A schema from its text, with the resolvers of some fields by their coordinates. */
export function schemaOf(text: string, resolvers: Readonly<Record<string, Resolver>> = {}): GraphQLSchema {
  const schema = buildSchema(text);
  for (const [coordinate, resolve] of Object.entries(resolvers)) fieldOf(schema, coordinate).resolve = resolve;
  return schema;
}

export function fieldOf(schema: GraphQLSchema, coordinate: string): { resolve?: Resolver } {
  const [type = "", name = ""] = coordinate.split(".");
  return (schema.getType(type) as GraphQLObjectType).getFields()[name] as { resolve?: Resolver };
}

interface Case {
  readonly rootValue?: unknown;
  readonly variables?: Readonly<Record<string, unknown>>;
}

/** The result of graphql, after it was compared with those of a plan with and without generated code. */
export async function same(schema: GraphQLSchema, text: string, given: Case = {}): Promise<ExecutionResult> {
  const { rootValue, variables = {} } = given;
  const document = parse(text);
  const expected = await execute({ schema, document, rootValue, variableValues: variables });
  for (const hotAfter of [0, Number.POSITIVE_INFINITY]) {
    const plan = Plan.compile(schema, document, getOperationAST(document) as OperationDefinitionNode, { hotAfter });
    const input = { rootValue, contextValue: undefined, variables, mostObjects: Number.POSITIVE_INFINITY };
    const actual = await plan?.execute(input);
    if (actual === undefined || actual === null) throw new Error("there is no plan");
    expect(seen(actual)).toEqual(seen(expected));
  }
  return expected;
}

export const messages: (result: ExecutionResult) => readonly string[] = ({ errors = [] }) =>
  errors.map(({ message }) => message);
