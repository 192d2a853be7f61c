import type { OpenResponse } from "./client.ts";
import type { TestResponse } from "./response.ts";

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
  return parse(answer.status, answer.text());
}

/** Reads a stream of answers; what was refused is the only one. The request is sent when the loop begins. */
export async function* graphResults<Data>(
  open: () => Promise<OpenResponse>,
): AsyncGenerator<GraphResult<Data>, void, void> {
  const { status, headers, body } = await open();
  try {
    const isStream = String(headers["content-type"]).startsWith("text/event-stream");
    if (!isStream) return yield parse(status, Buffer.concat(await body.toArray()).toString("utf8"));
    let unread = "";
    for await (const chunk of body.setEncoding("utf8")) {
      const events = (unread + String(chunk)).split("\n\n");
      unread = events.pop() ?? "";
      for (const event of events) {
        if (event.startsWith("event: complete")) return;
        const data = /^data: (.*)$/m.exec(event)?.[1];
        if (data !== undefined) yield JSON.parse(data) as GraphResult<Data>;
      }
    }
  } finally {
    body.destroy();
  }
}

function parse<Data>(status: number, text: string): GraphResult<Data> {
  try {
    const result = JSON.parse(text) as GraphResult<Data>;
    if ("data" in result || "errors" in result) return result;
  } catch {
    // Said below.
  }
  throw new Error(`the answer is none of a GraphQL endpoint: ${status} ${text.slice(0, 200)}`);
}
