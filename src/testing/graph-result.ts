import type { TestResponse } from "./test-response.ts";

/** The endpoint and headers of an operation. */
export interface GraphAsk {
  /** The path of the endpoint. @default "/graphql" */
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The response of a GraphQL endpoint. `Data` is the type that the test expects. It is not checked. */
export interface GraphResult<Data = Readonly<Record<string, unknown>>> {
  readonly data?: Data | null;
  readonly errors?: readonly {
    readonly message: string;
    readonly path?: readonly (string | number)[];
    readonly extensions: Readonly<Record<string, unknown>>;
  }[];
  readonly extensions?: Readonly<Record<string, unknown>>;
}

/** Reads the response to one operation. Throws if it is not a GraphQL response, such as a 404 from a wrong path. */
export function graphResult<Data>(response: TestResponse): GraphResult<Data> {
  return parseResult(response.status, response.text());
}

/** Throws if the text is not a GraphQL response. */
export function parseResult<Data>(status: number, text: string): GraphResult<Data> {
  try {
    const result = JSON.parse(text) as GraphResult<Data>;
    if ("data" in result || "errors" in result) return result;
  } catch {
    // Reported below.
  }
  throw new Error(`this is not a GraphQL response: ${status} ${text.slice(0, 200)}`);
}
