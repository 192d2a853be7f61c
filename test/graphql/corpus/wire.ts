import { connect } from "node:net";

/** A request as it goes over the wire, however wrong. */
export interface WireRequest {
  /** @default "POST" */
  readonly method?: string;
  /** Path and query, as they stand. @default "/graphql" */
  readonly target?: string;
  /** In this order; a name may stand twice. `host` and `content-length` are added unless they are given. */
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly body?: string | Uint8Array;
}

/** A response as it was received over the wire. */
export interface WireAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
}

/** Sends a request over a new connection. Not with `node:http`, which corrects or rejects such requests. */
export function exchange(port: number, request: WireRequest): Promise<WireAnswer> {
  const socket = connect(port, "127.0.0.1");
  return new Promise<WireAnswer>((resolve, reject) => {
    let received = Buffer.alloc(0);
    socket.on("data", (chunk) => {
      received = Buffer.concat([received, chunk]);
      const answer = parseAnswer(received, request.method === "HEAD");
      if (answer !== null) resolve(answer);
    });
    // A server that refuses a body cuts the connection while it is being sent.
    socket.on("error", () => {});
    socket.on("close", () => reject(new Error(`the connection ended after: ${received.toString("latin1")}`)));
    socket.write(requestBytes(request));
  }).finally(() => socket.destroy());
}

/** The bytes of a request. */
export function requestBytes({ method = "POST", target = "/graphql", headers = [], body }: WireRequest): Buffer {
  const bytes = Buffer.from(body ?? "");
  const given = new Set(headers.map(([name]) => name.toLowerCase()));
  const added = [
    ["host", "127.0.0.1"],
    ...(body === undefined || given.has("transfer-encoding") ? [] : [["content-length", String(bytes.length)]]),
  ].filter(([name = ""]) => !given.has(name));
  const lines = [...added, ...headers].map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join("")}\r\n`, "latin1"), bytes]);
}

/** The response at the beginning of `bytes`; `null` while it is incomplete. */
function parseAnswer(bytes: Buffer, isHead: boolean): WireAnswer | null {
  const end = bytes.indexOf("\r\n\r\n");
  if (end === -1) return null;
  const [start = "", ...lines] = bytes.toString("latin1", 0, end).split("\r\n");
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  const length = isHead ? 0 : Number(headers["content-length"] ?? 0);
  const body = bytes.subarray(end + 4);
  if (body.length < length) return null;
  return { status: Number(start.split(" ")[1]), headers, text: body.toString("utf8", 0, length) };
}
