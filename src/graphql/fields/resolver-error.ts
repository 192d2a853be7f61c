import { PorticoError } from "../../core/portico-error.ts";

/**
 * A resolver, a type or a schema that cannot be: thrown while the module that declares it is imported.
 *
 * The sentence begins with where it stands, as far as that is known: `field`, `mutation addBook`, `Book.author`.
 *
 * @example
 * ```ts
 * import { field, ResolverError, t } from "portico/graphql";
 *
 * try {
 *   field(t.string)((...all: unknown[]) => String(all));
 * } catch (error) {
 *   console.error(error instanceof ResolverError && error.code); // RESOLVER_INVALID
 * }
 * ```
 */
export class ResolverError extends PorticoError {
  override readonly name: string = "ResolverError";

  constructor(place: string, sentence: string, options: { readonly cause?: unknown } = {}) {
    super("RESOLVER_INVALID", `${place}: ${sentence}`, { status: 500, ...options });
  }
}
