import type { Input } from "./input.ts";

export type Header = readonly [name: string, value: string];

export interface RequestParts {
  /** @default "POST" with a body, else "GET" */
  readonly method?: string;
  readonly path: string;
  readonly headers?: readonly Header[];
  readonly body?: string | Buffer;
}

export const JSON_TYPE: Header = ["content-type", "application/json"];

/** A request with a correct length. Line breaks in values would make more headers of one, so they are taken out. */
export function requestBytes({ method, path, headers = [], body }: RequestParts): Buffer {
  const content = body === undefined ? null : Buffer.from(body as string);
  const lines = [
    `${method ?? (content === null ? "GET" : "POST")} ${inLine(path).replaceAll(" ", "%20")} HTTP/1.1`,
    "host: shop.example",
    ...headers.map(([name, value]) => `${name}: ${inLine(value)}`),
    ...(content === null ? [] : [`content-length: ${content.length}`]),
  ];
  return Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`), content ?? Buffer.alloc(0)]);
}

/** An input with one well-formed request. The end of a response to HEAD cannot be seen. */
export function answeredRequest(parts: RequestParts): Input {
  return { pieces: [{ bytes: requestBytes(parts) }], ending: "wait", requests: 1, isAnswered: parts.method !== "HEAD" };
}

/** Without the control characters that the HTTP parser rejects; generators of raw HTTP send them. */
function inLine(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, "");
}
