import { type Rule, text } from "../../core/resolve-options.ts";
import { ResolverError } from "../fields/resolver-error.ts";

/** What every named type may say about itself. */
export interface TypeOptions {
  readonly description?: string;
}

export const typeRules: { readonly description: Rule<string> } = { description: text };

/** Stops a name that GraphQL does not take, where it is written. */
export function checkName(place: string, name: unknown): asserts name is string {
  if (typeof name !== "string" || !/^[_A-Za-z]\w*$/.test(name) || name.startsWith("__"))
    throw new ResolverError(
      place,
      `a name in a schema has letters, digits and underscores and does not begin with a digit or "__", received ${JSON.stringify(name)}`,
    );
}
