/** A response as it came over the connection. */
interface WireResponse {
  readonly status: number;
  /** The status line and the headers. */
  readonly head: string;
  readonly body: string;
  readonly isComplete: boolean;
}

/** Everything that the server sent over one connection. */
export interface Received {
  readonly responses: readonly WireResponse[];
  /** The messages of a WebSocket, after status 101. */
  readonly messages: readonly string[];
  /** The code with which the server closed the WebSocket. */
  readonly closeCode: number | null;
}

const HEAD_END = "\r\n\r\n";

/** Reads the responses of a connection. The requests are unknown, so a response to HEAD has no body if the next response follows. */
export function readResponses(bytes: Buffer): Received {
  const responses: WireResponse[] = [];
  let rest = bytes;
  while (rest.length > 0) {
    const end = rest.indexOf(HEAD_END);
    const head = rest.toString("latin1", 0, end < 0 ? rest.length : end);
    const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1] ?? 0);
    const after = end < 0 ? Buffer.alloc(0) : rest.subarray(end + HEAD_END.length);
    if (status === 101) {
      responses.push({ status, head, body: "", isComplete: true });
      return { responses, ...readFrames(after) };
    }
    const { body, length, isComplete } =
      end < 0 ? { body: "", length: 0, isComplete: false } : readBody(status, head, after);
    responses.push({ status, head, body, isComplete });
    if (!isComplete) break;
    rest = after.subarray(length);
  }
  return { responses, messages: [], closeCode: null };
}

interface Body {
  readonly body: string;
  readonly length: number;
  readonly isComplete: boolean;
}

function readBody(status: number, head: string, after: Buffer): Body {
  const isEmpty = status < 200 || status === 204 || status === 304 || after.toString("latin1", 0, 7) === "HTTP/1.";
  if (isEmpty) return { body: "", length: 0, isComplete: true };
  if (/\r\ntransfer-encoding: *chunked/i.test(head)) return readChunks(after);
  const declared = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  const length = declared === undefined ? after.length : Math.min(Number(declared), after.length);
  // With no bytes after a declared length, it is the response to HEAD, or the body is still to come.
  const isComplete = declared !== undefined && length === Number(declared);
  return { body: after.toString("utf8", 0, length), length, isComplete };
}

function readChunks(after: Buffer): Body {
  const chunks: Buffer[] = [];
  let at = 0;
  for (;;) {
    const line = after.indexOf("\r\n", at);
    const size = line < 0 ? Number.NaN : Number.parseInt(after.toString("latin1", at, line), 16);
    const isMissing = Number.isNaN(size) || line + 2 + size + 2 > after.length;
    if (isMissing && !Number.isNaN(size)) chunks.push(after.subarray(line + 2));
    if (isMissing) return { body: Buffer.concat(chunks).toString(), length: after.length, isComplete: false };
    at = line + 2 + size + 2;
    if (size === 0) return { body: Buffer.concat(chunks).toString(), length: at, isComplete: true };
    chunks.push(after.subarray(line + 2, line + 2 + size));
  }
}

const CLOSE = 8;

/** Reads the frames of a server, which are never masked, and are compressed only if the client offered it. */
function readFrames(bytes: Buffer): Pick<Received, "messages" | "closeCode"> {
  const messages: string[] = [];
  let closeCode: number | null = null;
  for (let at = 0; at + 2 <= bytes.length; ) {
    const opcode = (bytes[at] ?? 0) & 15;
    const short = (bytes[at + 1] ?? 0) & 127;
    const start = at + (short === 126 ? 4 : short === 127 ? 10 : 2);
    if (start > bytes.length) break;
    const length =
      short === 126 ? bytes.readUInt16BE(at + 2) : short === 127 ? Number(bytes.readBigUInt64BE(at + 2)) : short;
    const payload = bytes.subarray(start, start + length);
    if (opcode === CLOSE) closeCode = payload.length >= 2 ? payload.readUInt16BE(0) : 1005;
    messages.push(payload.toString("utf8", opcode === CLOSE ? 2 : 0));
    at = start + length;
  }
  return { messages, closeCode };
}
