/** One response as it came over a connection. */
export interface ReadResponse {
  readonly status: number;
  readonly headers: string;
  readonly body: string;
  /** Whether it came to its end. */
  readonly isComplete: boolean;
}

/**
 * Reads bytes as the responses to these methods, in their order, and nothing else. Throws at the first byte that cannot belong
 * to a response. `rest` is what follows the acceptance of an upgrade.
 */
export function readResponses(
  text: string,
  methods: readonly string[],
): { readonly responses: readonly ReadResponse[]; readonly rest: string | null } {
  const responses: ReadResponse[] = [];
  let at = 0;
  while (at < text.length) {
    const end = text.indexOf("\r\n\r\n", at);
    const headers = text.slice(at, end === -1 ? text.length : end + 2);
    const line = /^HTTP\/1\.1 (\d{3}) [\w '-]*\r\n/.exec(headers);
    if (line === null) {
      if (end === -1 && /^(?:HTTP\/1\.1 ?[\w '-]*)?$/.test(headers.slice(0, 30).split("\r")[0] ?? "")) break;
      throw new Error(`not a response: ${JSON.stringify(text.slice(at, at + 80))}`);
    }
    const status = Number(line[1]);
    if (end === -1) {
      responses.push({ status, headers, body: "", isComplete: false });
      break;
    }
    at = end + 4;
    if (status === 101)
      return { responses: [...responses, { status, headers, body: "", isComplete: true }], rest: text.slice(at) };
    if (status < 200) continue;
    const body = readBody(text, at, headers, hasNoBody(status, methods[responses.length]));
    responses.push({ status, headers, body: body.text, isComplete: body.end !== null });
    at = body.end ?? text.length;
  }
  return { responses, rest: null };
}

function hasNoBody(status: number, method: string | undefined): boolean {
  return method === "HEAD" || status === 204 || status === 304;
}

function readBody(
  text: string,
  start: number,
  headers: string,
  isEmpty: boolean,
): { text: string; end: number | null } {
  if (isEmpty) return { text: "", end: start };
  const length = /\r\ncontent-length: (\d+)\r\n/i.exec(headers)?.[1];
  if (length !== undefined) {
    const end = start + Number(length);
    return { text: text.slice(start, end), end: end <= text.length ? end : null };
  }
  if (/\r\ntransfer-encoding: chunked\r\n/i.test(headers)) return readChunks(text, start);
  // Until the connection closes.
  return { text: text.slice(start), end: text.length };
}

function readChunks(text: string, start: number): { text: string; end: number | null } {
  let [at, body] = [start, ""];
  for (;;) {
    const end = text.indexOf("\r\n", at);
    if (end === -1) return { text: body, end: null };
    const digits = text.slice(at, end);
    if (!/^[\da-f]+$/i.test(digits)) throw new Error(`not a chunk: ${JSON.stringify(text.slice(at, at + 80))}`);
    const size = Number.parseInt(digits, 16);
    at = end + 2;
    body += text.slice(at, at + size);
    at += size;
    if (at + 2 > text.length) return { text: body, end: null };
    if (text.slice(at, at + 2) !== "\r\n")
      throw new Error(`not the end of a chunk: ${JSON.stringify(text.slice(at, at + 80))}`);
    at += 2;
    if (size === 0) return { text: body, end: at };
  }
}

/** Reads bytes as the frames of a server, RFC 6455 section 5.2: opcodes and payloads. Throws where they cannot be. */
export function readFrames(text: string): readonly { readonly opcode: number; readonly payload: string }[] {
  const frames: { opcode: number; payload: string }[] = [];
  const bytes = Buffer.from(text, "latin1");
  let at = 0;
  while (at + 2 <= bytes.length) {
    const [first, second] = [bytes.readUInt8(at), bytes.readUInt8(at + 1)];
    const opcode = first & 0x0f;
    if ((first & 0x70) !== 0 || second > 127 || ![0, 1, 2, 8, 9, 10].includes(opcode))
      throw new Error(`not a frame of a server: ${JSON.stringify(text.slice(at, at + 80))}`);
    const extra = second === 126 ? 2 : second === 127 ? 8 : 0;
    if (at + 2 + extra > bytes.length) break;
    const length =
      extra === 0 ? second : extra === 2 ? bytes.readUInt16BE(at + 2) : Number(bytes.readBigUInt64BE(at + 2));
    at += 2 + extra;
    frames.push({ opcode, payload: bytes.toString("latin1", at, at + length) });
    at += length;
  }
  return frames;
}
