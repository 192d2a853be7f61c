import { type Header, requestBytes } from "./request-bytes.ts";

/** The request that opens a WebSocket. */
export function handshake(path: string, upgrade = "websocket", more: readonly Header[] = []): Buffer {
  return requestBytes({
    path,
    headers: [
      ["connection", "Upgrade"],
      ["upgrade", upgrade],
      ["sec-websocket-version", "13"],
      ["sec-websocket-key", "AAAAAAAAAAAAAAAAAAAAAA=="],
      ["sec-websocket-protocol", "graphql-transport-ws"],
      ...more,
    ],
  });
}

export interface FrameParts {
  /** The first byte: the flags and the opcode. */
  readonly first: number;
  readonly payload: Buffer;
  readonly isMasked?: boolean;
  /** The length in the header, if it is not the real one. */
  readonly claimed?: bigint;
}

export const TEXT_FRAME = 0x81;

/** One frame of a WebSocket, from a client. The mask is zero, so that the payload can be read. */
export function frame({ first, payload, isMasked = true, claimed }: FrameParts): Buffer {
  const length = claimed ?? BigInt(payload.length);
  const mask = isMasked ? 0x80 : 0;
  const short = length < 126n ? Number(length) : length < 65_536n ? 126 : 127;
  const head = Buffer.alloc(short === 126 ? 4 : short === 127 ? 10 : 2);
  head[0] = first;
  head[1] = mask | short;
  if (short === 126) head.writeUInt16BE(Number(length), 2);
  if (short === 127) head.writeBigUInt64BE(BigInt.asUintN(64, length), 2);
  return Buffer.concat([head, isMasked ? Buffer.alloc(4) : Buffer.alloc(0), payload]);
}

export function textFrame(text: string): Buffer {
  return frame({ first: TEXT_FRAME, payload: Buffer.from(text) });
}
