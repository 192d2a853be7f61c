import { WebSocket } from "ws";
import { type TestResponse, toTestResponse } from "./test-response.ts";

export interface TestSocketOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly protocols?: readonly string[];
}

/** The client side of a WebSocket. Iterate over it to read the messages. */
export interface TestSocket extends AsyncIterable<string, void, void> {
  readonly protocol: string;
  send(data: string | Uint8Array): void;
  /** Returns the next message. Rejects if the socket closes first. */
  next(): Promise<string>;
  close(code?: number): void;
  /** Drops the connection, as a crashed client would. */
  terminate(): void;
  /** Resolves with the close code and reason. */
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
}

/** The server rejected the upgrade with an HTTP status. */
export class SocketRefused extends Error {
  override readonly name: string = "SocketRefused";
  readonly response: TestResponse;

  constructor(response: TestResponse) {
    super(`the server rejected the socket with ${response.status}: ${response.text()}`);
    this.response = response;
  }
}

export function openTestSocket(
  url: string,
  { headers = {}, protocols = [] }: TestSocketOptions = {},
): Promise<TestSocket> {
  const ws = new WebSocket(url, [...protocols], { headers });
  return new Promise((resolve, reject) => {
    const socket = testSocket(ws);
    ws.on("error", reject);
    ws.on("open", () => resolve(socket));
    ws.on("unexpected-response", (_request, response) => {
      response
        .toArray()
        .then(
          (chunks) =>
            reject(
              new SocketRefused(toTestResponse(response.statusCode ?? 0, response.headers, Buffer.concat(chunks))),
            ),
          reject,
        );
    });
  });
}

function testSocket(ws: WebSocket): TestSocket {
  const unread: string[] = [];
  let wake: (() => void) | null = null;
  let isClosed = false;
  ws.on("message", (data) => {
    unread.push((data as Buffer).toString("utf8"));
    wake?.();
  });
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    ws.on("close", (code, reason) => {
      isClosed = true;
      wake?.();
      resolve({ code, reason: String(reason) });
    });
  });
  async function* messages(): AsyncGenerator<string, void, void> {
    for (;;) {
      const message = unread.shift();
      if (message !== undefined) yield message;
      else if (isClosed) return;
      else
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
  }
  return {
    get protocol() {
      return ws.protocol;
    },
    send: (data) => ws.send(data),
    async next() {
      for await (const message of messages()) return message;
      throw new Error("the socket closed before another message arrived");
    },
    close: (code) => ws.close(code),
    terminate: () => ws.terminate(),
    closed,
    [Symbol.asyncIterator]: messages,
  };
}
