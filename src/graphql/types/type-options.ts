import { type Rule, text } from "../../core/resolve-options.ts";
import { ResolverError } from "../fields/resolver-error.ts";

/** The options of every named type. */
export interface TypeOptions {
  readonly description?: string;
}

export const typeRules: { readonly description: Rule<string> } = { description: text };

/** Rejects a name that GraphQL does not allow, at the place where it is declared. */
export function checkName(place: string, name: unknown): asserts name is string {
  if (typeof name !== "string" || !/^[_A-Za-z]\w*$/.test(name) || name.startsWith("__"))
    throw new ResolverError(
      place,
      `a GraphQL name may contain only letters, digits and underscores and must not start with a digit or "__", received ${JSON.stringify(name)}`,
    );
}
