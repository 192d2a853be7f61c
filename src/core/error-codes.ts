/**
 * Every code that Portico itself gives, with the status of the answer it leads to.
 * A row here needs a row in `docs/errors.md`: a test compares the two.
 */
const codes = {
  BAD_REQUEST: 400,
  BODY_INCOMPLETE: 400,
  BODY_NOT_FORM: 400,
  BODY_NOT_JSON: 400,
  MALFORMED_URL: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  ORIGIN_REFUSED: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  REQUEST_TIMEOUT: 408,
  CONFLICT: 409,
  PAYLOAD_TOO_LARGE: 413,
  URI_TOO_LONG: 414,
  UNSUPPORTED_MEDIA_TYPE: 415,
  VALIDATION_FAILED: 422,
  UPGRADE_REQUIRED: 426,
  RATE_LIMITED: 429,
  HEADERS_TOO_LARGE: 431,
  INTERNAL_ERROR: 500,
  CONFIGURATION_INVALID: 500,
  DEPENDENCY_FAILED: 500,
  RESOLVER_INVALID: 500,
  RESPONSE_INVALID: 500,
  PUBSUB_GAP: 500,
  OVERLOADED: 503,
  SHUTTING_DOWN: 503,
  HANDLER_TIMEOUT: 503,
  SERVICE_UNAVAILABLE: 503,
  STORE_FULL: 503,
} as const;

/** A code that Portico itself gives. */
export type ErrorCode = keyof typeof codes;

export const errorCodes: Readonly<Record<ErrorCode, number>> = codes;
