import { GraphQLError } from "graphql";

/** Why a field was refused. */
export type DeniedCode = "UNAUTHENTICATED" | "FORBIDDEN" | "SERVICE_UNAVAILABLE";

/**
 * A field that its gate refused. It stands in `errors` with its code, on that field alone; the rest of the operation is
 * answered. A resolver may throw one itself.
 *
 * `UNAUTHENTICATED`: nobody is signed in. `FORBIDDEN`: somebody is, and may not. `SERVICE_UNAVAILABLE`: who is calling
 * could not be found out.
 *
 * @example
 * ```ts
 * import { field, GraphQLDenied, t } from "portico/graphql";
 *
 * const salary = field(t.int, { auth: true })(({ ctx }) => {
 *   if (!ctx.user.hasPermission("read:salaries")) throw new GraphQLDenied("FORBIDDEN");
 *   return 4200;
 * });
 * ```
 */
export class GraphQLDenied extends GraphQLError {
  readonly code: DeniedCode;

  constructor(code: DeniedCode) {
    super(SENTENCES[code], { extensions: code === "SERVICE_UNAVAILABLE" ? { code, retryAfter: 1 } : { code } });
    this.code = code;
  }
}

const SENTENCES: Readonly<Record<DeniedCode, string>> = {
  UNAUTHENTICATED: "Nobody is signed in",
  FORBIDDEN: "This is not allowed",
  SERVICE_UNAVAILABLE: "Who is calling could not be found out: try again",
};

const DENIALS = new Map<DeniedCode, GraphQLDenied>();

/**
 * The denial that a gate throws, one for all fields: graphql wraps it for each of them, and printing the stack of another one
 * would cost more than the rest of the field.
 */
export function denialWith(code: DeniedCode): GraphQLDenied {
  const denial = DENIALS.get(code) ?? new GraphQLDenied(code);
  DENIALS.set(code, denial);
  return denial;
}
