import { graphqlBody } from "./graphql-body.ts";
import { mutationFields, sendOnce } from "./idempotency.ts";
import { PorticoClientError } from "./portico-client-error.ts";
import { printDocument } from "./print-document.ts";
import { type GraphQLBody, graphqlError } from "./read-error.ts";
import type { Request, RequestOptions } from "./request.ts";
import { isUnauthenticated, type TokenKeeper } from "./token-keeper.ts";

/** The options of a GraphQL operation, without their types. */
export interface AnyOperationOptions extends RequestOptions {
  readonly variables?: unknown;
}

/** Sends a GraphQL operation and returns its data. */
export type GraphQL = (document: unknown, options?: AnyOperationOptions) => Promise<unknown>;

/** A page of another origin cannot send this header unasked, so Portico accepts uploads with it. */
export const PREFLIGHT: Readonly<Record<string, string>> = { "graphql-require-preflight": "1" };

/** Makes the function behind `client.graphql`. */
export function graphqlThrough(
  request: Request,
  tokens: Pick<TokenKeeper, "run">,
  path: string,
  idempotent: ReadonlySet<string>,
): GraphQL {
  return async (document, { variables, headers, signal } = {}) => {
    const query = printDocument(document);
    const fields = idempotent.size > 0 ? mutationFields(query) : [];
    const isIdempotent = fields.length > 0 && fields.every((name) => idempotent.has(`mutation ${name}`));
    const result = await sendOnce(
      isIdempotent,
      (key) => {
        const body = graphqlBody({ query, variables, extensions: key === undefined ? key : { idempotencyKey: key } });
        return tokens
          .run(
            (token) =>
              request({ method: "POST", path, body, headers: { ...PREFLIGHT, ...headers }, signal, token }, readData),
            signal,
            (error) => isUnauthenticated(error) || mayRepeat(error, query),
          )
          .catch(partial);
      },
      signal,
    );
    if (result instanceof PorticoClientError) throw result;
    return result;
  };
}

/** A retry would receive the same response again, because its work is done. */
function partial(error: unknown): PorticoClientError {
  if (error instanceof PorticoClientError && Object.values(error.data ?? {}).some((field) => field !== null))
    return error;
  throw error;
}

async function readData(response: Response): Promise<unknown> {
  const result = (await response.json()) as GraphQLBody;
  if (result.errors !== undefined || result.data === undefined) throw graphqlError(result);
  return result.data;
}

/**
 * Whether a field was denied because the token is no longer valid, and the operation may be sent again. A mutation may have
 * done some of its work, unless all of its fields failed.
 */
function mayRepeat(error: unknown, query: string): boolean {
  if (!(error instanceof PorticoClientError)) return false;
  const { errors, data } = error;
  if (!errors.some(({ extensions }) => extensions?.["code"] === "UNAUTHENTICATED")) return false;
  return !/\bmutation\b/.test(query) || Object.values(data ?? {}).every((field) => field === null);
}
