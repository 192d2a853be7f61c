import type { TestResponse } from "./test-response.ts";

/** Where an operation is asked for. */
export interface GraphAsk {
  /** Of the endpoint. @default "/graphql" */
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What a GraphQL endpoint answers. `Data` is what the test expects of it: nobody checks that. */
export interface GraphResult<Data = Readonly<Record<string, unknown>>> {
  readonly data?: Data | null;
  readonly errors?: readonly {
    readonly message: string;
    readonly path?: readonly (string | number)[];
    readonly extensions: Readonly<Record<string, unknown>>;
  }[];
  readonly extensions?: Readonly<Record<string, unknown>>;
}

/** Reads the answer to one operation. Throws for what is none, such as the 404 of another path. */
export function graphResult<Data>(answer: TestResponse): GraphResult<Data> {
  return parseResult(answer.status, answer.text());
}

/** Throws for what no GraphQL endpoint would answer. */
export function parseResult<Data>(status: number, text: string): GraphResult<Data> {
  try {
    const result = JSON.parse(text) as GraphResult<Data>;
    if ("data" in result || "errors" in result) return result;
  } catch {
    // Said below.
  }
  throw new Error(`the answer is none of a GraphQL endpoint: ${status} ${text.slice(0, 200)}`);
}
