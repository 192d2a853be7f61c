import { randomBytes } from "node:crypto";
import { onTestFinished } from "vitest";
import { type RawConnection, rawConnection } from "../raw-connection.ts";
import { readFrames } from "../read-responses.ts";

/** A WebSocket client that sends only what a test sends: no pongs, and no confirmation of a close frame. */
export interface RawSocket {
  readonly connection: RawConnection;
  /** Sends frames at once, with opcodes and payloads. */
  readonly send: (...frames: readonly (readonly [opcode: number, payload: string])[]) => void;
  /** The frames that have arrived. */
  readonly frames: () => ReturnType<typeof readFrames>;
}

export const TEXT = 1;
export const CLOSE = 8;
export const PING = 9;
export const PONG = 10;

export async function rawSocket(port: number, path: string, protocol?: string): Promise<RawSocket> {
  const connection = await rawConnection(port);
  onTestFinished(() => void connection.socket.destroy());
  connection.socket.write(
    `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${randomBytes(16).toString("base64")}\r\n` +
      (protocol === undefined ? "\r\n" : `Sec-WebSocket-Protocol: ${protocol}\r\n\r\n`),
  );
  const head = (await connection.until("\r\n\r\n")).indexOf("\r\n\r\n") + 4;
  return {
    connection,
    send(...frames) {
      connection.socket.write(
        Buffer.concat(frames.map(([opcode, payload]) => frame(opcode, Buffer.from(payload, "latin1")))),
      );
    },
    frames: () => readFrames(connection.received().slice(head)),
  };
}

/** A frame of a client, RFC 6455 section 5.2. A mask of zeros leaves the payload as it is. */
function frame(opcode: number, payload: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0x80 | opcode, 0x80 | payload.length, 0, 0, 0, 0]), payload]);
}
