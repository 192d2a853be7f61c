import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** A request as it goes over the wire, however wrong. */
export interface WireRequest {
  /** @default "POST" with a body, else "GET" */
  readonly method?: string;
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly body?: string | Uint8Array;
  /** The client address, by which limits count. @default "127.0.0.1" */
  readonly from?: string;
}

/** A raw response, up to the end of its connection. */
export interface WireAnswer {
  readonly status: number;
  /** Names in lower case. Repeated headers are joined. */
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies: readonly string[];
  readonly text: string;
}

/** Sends one request over a new connection, because an HTTP client would correct it. */
export async function exchange(port: number, path: string, request: WireRequest): Promise<WireAnswer> {
  const socket = await dial(port, request.from);
  const chunks: Buffer[] = [];
  socket.on("data", (chunk) => chunks.push(chunk));
  const end = ended(socket);
  socket.write(bytesOf(path, request));
  await end;
  return readAnswer(Buffer.concat(chunks));
}

/** A bare connection. Some rows test that the server closes it. */
export async function dial(port: number, from = "127.0.0.1"): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1", localAddress: from });
  await once(socket, "connect");
  socket.on("error", () => {});
  return socket;
}

/** Waits for the end of a connection, with or without an error. */
export function ended(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once("close", () => resolve()));
}

export function bytesOf(path: string, { method, headers = [], body }: WireRequest): Buffer {
  const given = new Set(headers.map(([name]) => name.toLowerCase()));
  const content = Buffer.from(body ?? "");
  const usual: (readonly [string, string])[] = [
    ["host", "shop.example"],
    ["connection", "close"],
    ...(body === undefined || given.has("transfer-encoding") ? [] : [["content-length", `${content.length}`] as const]),
  ];
  const lines = [...usual.filter(([name]) => !given.has(name)), ...headers].map(([name, value]) => `${name}: ${value}`);
  const start = `${method ?? (body === undefined ? "GET" : "POST")} ${path} HTTP/1.1`;
  return Buffer.concat([Buffer.from(`${[start, ...lines].join("\r\n")}\r\n\r\n`, "latin1"), content]);
}

function readAnswer(bytes: Buffer): WireAnswer {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) throw new Error(`the connection ended after: ${bytes.toString("latin1")}`);
  const [start = "", ...lines] = bytes.toString("latin1", 0, end).split("\r\n");
  const headers: Record<string, string> = {};
  const cookies: string[] = [];
  for (const line of lines) {
    const [, name = "", value = ""] = /^([^:]+):\s*(\S.*)?$/.exec(line) ?? [];
    const key = name.toLowerCase();
    if (key === "set-cookie") cookies.push(value);
    headers[key] = headers[key] === undefined ? value : `${headers[key]}, ${value}`;
  }
  return { status: Number(start.split(" ")[1]), headers, cookies, text: bytes.toString("utf8", end + 4) };
}
