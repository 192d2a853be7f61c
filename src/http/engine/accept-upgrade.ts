import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import { type AcceptOptions, ClientGone, type RawSocket } from "../../kernel/exchange/exchange.ts";

/** The connection of an upgrade that is neither accepted nor rejected yet. */
export interface PendingUpgrade {
  readonly socket: Duplex;
  readonly head: Buffer;
  /** Called when the connection becomes a socket, which carries no plain responses any more. */
  readonly release: () => void;
}

/** One server per socket route. It holds the limits and the subprotocols, but no connections. */
const servers = new WeakMap<AcceptOptions, WebSocketServer>();

/**
 * Accepts an upgrade. Rejects with `ClientGone` if the client has disconnected, or if its handshake is invalid and was already
 * rejected.
 */
export function acceptUpgrade(
  request: IncomingMessage,
  { socket, head }: PendingUpgrade,
  options: AcceptOptions,
): Promise<RawSocket> {
  const server = servers.get(options) ?? createServer(options);
  servers.set(options, server);
  return new Promise((resolve, reject) => {
    const onClose = (): void => reject(new ClientGone("the client disconnected before its socket was accepted"));
    if (socket.destroyed) return onClose();
    socket.once("close", onClose);
    server.handleUpgrade(request, socket, head, (ws) => {
      socket.off("close", onClose);
      resolve(new WsSocket(ws, socket));
    });
  });
}

function createServer({ protocols, maxMessageBytes }: AcceptOptions): WebSocketServer {
  return new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: maxMessageBytes,
    // It would queue a pong for every ping of a client that reads none of them.
    autoPong: false,
    handleProtocols: (offered) => protocols.find((protocol) => offered.has(protocol)) ?? false,
  });
}

/** The memory of a queued write besides its bytes. */
const WRITE_BYTES = 256;

/** A class, not an object of functions, because there are many of them. */
class WsSocket implements RawSocket {
  readonly #ws: WebSocket;
  readonly #connection: Duplex;
  #queued = 0;
  #sent = 0;

  constructor(ws: WebSocket, connection: Duplex) {
    this.#ws = ws;
    this.#connection = connection;
    // ws itself closes with 1009 or 1002 after a frame that is too large or malformed.
    ws.on("error", ignore);
  }

  get bufferedAmount(): number {
    return this.#ws.bufferedAmount;
  }
  get heldBytes(): number {
    return this.#ws.bufferedAmount + WRITE_BYTES * this.#queued;
  }
  get progress(): number {
    return this.#sent;
  }
  get isFull(): boolean {
    return this.#connection.writableNeedDrain;
  }
  get protocol(): string {
    return this.#ws.protocol;
  }
  send(data: string | Uint8Array): void {
    const sent = this.#queue();
    if (typeof data === "string" && this.#ws.readyState === OPEN) this.#connection.write(textFrame(data), sent);
    else this.#ws.send(data, sent);
  }
  ping(): void {
    this.#ws.ping();
  }
  pong(payload: Buffer): void {
    this.#ws.pong(payload, false, this.#queue());
  }
  pause(): void {
    this.#ws.pause();
  }
  resume(): void {
    this.#ws.resume();
  }
  close(code: number, reason: string): void {
    this.#ws.close(code, reason);
  }
  terminate(): void {
    this.#ws.terminate();
  }
  onMessage(receive: (data: string | Buffer) => void): void {
    this.#ws.on("message", (data, isBinary) =>
      receive(isBinary ? (data as Buffer) : (data as Buffer).toString("utf8")),
    );
  }
  onPing(receive: (payload: Buffer) => void): void {
    this.#ws.on("ping", receive);
  }
  onPong(receive: () => void): void {
    this.#ws.on("pong", receive);
  }
  onceDrained(drained: () => void): void {
    this.#connection.once("drain", drained);
  }
  onClose(closed: (code: number, reason: string) => void): void {
    this.#ws.on("close", (code, reason) => closed(code, String(reason)));
  }

  /** Counts a frame behind unsent ones. Returns the callback for its write; a frame that is sent at once needs none. */
  #queue(): (() => void) | undefined {
    if (this.#connection.writableLength === 0) return undefined;
    this.#queued++;
    return this.#dequeue;
  }
  readonly #dequeue = (): void => {
    this.#queued--;
    this.#sent++;
  };
}

const OPEN = 1;

/**
 * A text as one frame, RFC 6455 section 5.2. ws would write the header and the text separately, which takes two system calls.
 * Without compression ws writes nothing but frames, so its own and these can follow one another.
 */
function textFrame(text: string): Buffer {
  const length = Buffer.byteLength(text);
  const head = length < 126 ? 2 : length < 65_536 ? 4 : 10;
  const frame = Buffer.allocUnsafe(head + length);
  frame[0] = 0x81;
  if (head === 2) frame[1] = length;
  else if (head === 4) {
    frame[1] = 126;
    frame.writeUInt16BE(length, 2);
  } else {
    frame[1] = 127;
    frame.writeBigUInt64BE(BigInt(length), 2);
  }
  frame.write(text, head);
  return frame;
}

function ignore(): void {}
