import { PorticoError } from "../../../core/portico-error.ts";

/**
 * An invalid resolver, type or schema. Thrown while the module that declares it is imported.
 *
 * The message starts with the place of the declaration, as far as it is known: `field`, `mutation addBook`,
 * `Book.author`.
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
