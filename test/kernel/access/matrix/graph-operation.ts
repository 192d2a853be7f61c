import type { TestResponse } from "portico/testing";
import type { Seen, Visit } from "./place.ts";

export interface Operation {
  readonly type: "query" | "mutation" | "subscription";
  readonly selection: string;
}

interface Result {
  readonly data?: Readonly<Record<string, unknown>> | null;
  readonly errors?: readonly {
    readonly path?: readonly (string | number)[];
    readonly extensions: { readonly code: string };
  }[];
}

/** Runs an operation over the transport of the visit. Shows its results, or the rejection of the request. */
export async function operate(visit: Visit, path: string, operation: Operation): Promise<Seen> {
  const { type, selection } = operation;
  const { client, inject, transport, identity, owner } = visit;
  const headers = { ...identity.headers, "x-owner": owner };
  const query = `${type} { ${selection} }`;
  switch (transport) {
    case "get":
      return single(await inject.get(path, { headers, query: { query } }));
    case "batch":
      return batched(await inject.post(path, { headers, body: [OPEN, { query }, OPEN] }));
    case "multipart":
      return single(await inject.post(path, multipart(operation, headers)));
    case "sse": {
      // A socket for streams that last, such as subscriptions.
      const sender = type === "subscription" ? client : inject;
      return streamed(await sender.post(path, { headers: { ...headers, ...STREAM }, body: { query } }));
    }
    case "websocket": {
      const reply = await visit.sockets.run(path, identity, owner, query);
      if ("refused" in reply) return { shown: reply.refused, text: reply.text };
      return { shown: reply.payloads.map((payload) => canonical(payload as Result)), text: reply.text };
    }
    case "post":
      return single(await client.post(path, { headers, body: { query } }));
    case "inject":
      return single(await inject.post(path, { headers, body: { query } }));
    case "http":
    case "upgrade":
      throw new Error(`no operation runs over ${transport}`);
  }
}

const STREAM = { accept: "text/event-stream" };
const OPEN = { query: "{ open }" };

const textOf = (response: TestResponse): string => JSON.stringify(response.headers) + response.text();

function single(response: TestResponse): Seen {
  const result = canonical(response.json() as Result);
  return { shown: response.status === 200 ? [result] : { status: response.status, ...result }, text: textOf(response) };
}

/** Returns the result in the middle. The operations around it are open to everybody, and must succeed. */
function batched(response: TestResponse): Seen {
  if (response.status !== 200) return single(response);
  const [before, result, after] = response.json() as [Result, Result, Result];
  if (before.data?.["open"] !== 1 || after.data?.["open"] !== 1) throw new Error(`in a batch: ${response.text()}`);
  return { shown: [canonical(result)], text: textOf(response) };
}

function streamed(response: TestResponse): Seen {
  if (response.status !== 200) return single(response);
  const events = response.text().split("\n\n");
  const results = events.flatMap((event) => /^event: next\ndata: (.*)$/m.exec(event)?.[1] ?? []);
  if (!events.some((event) => event.startsWith("event: complete"))) throw new Error("the stream did not complete");
  return { shown: results.map((text) => canonical(JSON.parse(text) as Result)), text: textOf(response) };
}

/** A file, and in the same operation the guarded field. */
function multipart({ type, selection }: Operation, headers: Readonly<Record<string, string>>) {
  const query = `${type} ($file: Upload!) { sent(file: $file) ${selection} }`;
  const part = (name: string, text: string): string =>
    `--edge\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`;
  const file = '--edge\r\ncontent-disposition: form-data; name="0"; filename="a.txt"\r\n\r\nhello\r\n';
  const operations = part("operations", JSON.stringify({ query, variables: { file: null } }));
  return {
    headers: { ...headers, "content-type": "multipart/form-data; boundary=edge", "graphql-require-preflight": "1" },
    body: `${operations}${part("map", '{"0":["variables.file"]}')}${file}--edge--\r\n`,
  };
}

/** The data without the file of a multipart request, and the errors as `path CODE`. */
function canonical({ data, errors }: Result): object {
  const { sent, ...others } = data ?? {};
  return {
    ...(data === undefined
      ? {}
      : { data: data === null ? null : { ...others, ...(sent === 1 || sent === undefined ? {} : { sent }) } }),
    ...(errors === undefined
      ? {}
      : { errors: errors.map(({ path = [], extensions }) => `${path.join(".")} ${extensions.code}`) }),
  };
}
