import { GraphQLError } from "graphql";

/** The reason why access to a field was denied. */
export type DeniedCode = "UNAUTHENTICATED" | "FORBIDDEN" | "SERVICE_UNAVAILABLE";

/**
 * The error of a field whose gate denied access. It is listed in `errors` with its code and fails that field alone. A
 * resolver can throw it too.
 *
 * `UNAUTHENTICATED`: the caller is not signed in. `FORBIDDEN`: the caller is signed in and lacks permission.
 * `SERVICE_UNAVAILABLE`: the caller could not be authenticated, for example because the session store is down.
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

  constructor(code: DeniedCode, message: string = SENTENCES[code]) {
    super(message, { extensions: code === "SERVICE_UNAVAILABLE" ? { code, retryAfter: 5 } : { code } });
    this.code = code;
  }
}

const SENTENCES: Readonly<Record<DeniedCode, string>> = {
  UNAUTHENTICATED: "Authentication required",
  FORBIDDEN: "Permission denied",
  SERVICE_UNAVAILABLE: "Authentication is temporarily unavailable. Try again later.",
};

const DENIALS = new Map<DeniedCode, GraphQLDenied>();

/**
 * The error of a field that a gate refused with this error. All fields share one denial per code: graphql wraps it for
 * each of them, and capturing another stack trace would cost more than the rest of the field.
 */
export function denialFrom(error: Error): Error {
  const { code } = error as { readonly code?: unknown };
  if (!isDeniedCode(code)) return error;
  if (error.message !== SENTENCES[code]) return new GraphQLDenied(code, error.message);
  const denial = DENIALS.get(code) ?? new GraphQLDenied(code);
  DENIALS.set(code, denial);
  return denial;
}

function isDeniedCode(code: unknown): code is DeniedCode {
  return typeof code === "string" && Object.hasOwn(SENTENCES, code);
}
