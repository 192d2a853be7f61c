import { GraphQLBoolean, GraphQLError, type GraphQLScalarType } from "graphql";
import { isInstance } from "../../../core/describe-error.ts";

const PREFIX = "Boolean cannot represent a non boolean value: ";

/**
 * Prints a value as graphql prints it in its messages. graphql does not export the function, but quotes any value that is not
 * a boolean when it has to parse one.
 */
export function inspect(value: unknown): string {
  if (typeof value === "boolean") return String(value);
  try {
    return String((GraphQLBoolean as GraphQLScalarType<unknown>).parseValue(value));
  } catch (error) {
    if (isInstance(error, GraphQLError) && error.message.startsWith(PREFIX)) return error.message.slice(PREFIX.length);
    // A getter of the value has thrown.
    throw error;
  }
}
