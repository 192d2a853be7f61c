import { type IncomingHttpHeaders, request } from "node:http";

export interface PlainRequest {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: object;
  /** The address of the client. @default "127.0.0.1" */
  readonly from?: string;
  /** How long the connection may be silent, in milliseconds. @default 10,000 */
  readonly timeoutMs?: number;
}

export interface PlainAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

const TIMEOUT_MS = 10_000;

/** Sends an ordinary request over a new connection. Rejects if there is no response. */
export function plainRequest(
  port: number,
  { method, path, headers, body, from, timeoutMs = TIMEOUT_MS }: PlainRequest,
): Promise<PlainAnswer> {
  const text = body === undefined ? undefined : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const sent = request({
      host: "127.0.0.1",
      port,
      method: method ?? (body === undefined ? "GET" : "POST"),
      path,
      localAddress: from ?? "127.0.0.1",
      agent: false,
      timeout: timeoutMs,
      headers: { ...(text === undefined ? {} : { "content-type": "application/json" }), ...headers },
    });
    sent.on("response", (answer) => {
      let received = "";
      answer.setEncoding("utf8");
      answer.on("data", (chunk: string) => (received += chunk));
      answer.on("end", () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text: received }));
      answer.on("error", reject);
    });
    sent.on("timeout", () => sent.destroy(new Error(`${path}: no response`)));
    sent.on("error", reject);
    sent.end(text);
  });
}
