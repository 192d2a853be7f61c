import { createSocket, type Socket } from "node:dgram";

/** How it responds. */
export type NameServerMode = "right" | "silent" | "late" | "refused" | "wrong";

/** The port of DNS. Only root can listen on it, and a resolver asks no other. */
const PORT = 53;
const LATE_MS = 300;
const REFUSED = 5;
const TYPE_A = 1;

/** A name server that gives every name the address 127.0.0.1. It has an address of this machine for itself. */
export class NameServer {
  readonly address: string;
  readonly #socket: Socket;
  mode: NameServerMode = "right";

  private constructor(address: string) {
    this.address = address;
    this.#socket = createSocket("udp4", (query, { port, address: client }) => {
      const reply = this.#reply(query);
      const send = (): void => this.#socket.send(reply, port, client, () => {});
      if (this.mode === "late") setTimeout(send, LATE_MS).unref();
      else if (this.mode !== "silent") send();
    });
  }

  static async start(): Promise<NameServer> {
    const server = new NameServer(`127.53.${process.pid % 250}.${(process.hrtime()[1] % 250) + 1}`);
    await new Promise<void>((resolve, reject) => {
      server.#socket.once("error", reject).bind(PORT, server.address, resolve);
    });
    return server;
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve) => this.#socket.close(resolve));
  }

  /** The question, with one address if it asked for one. */
  #reply(query: Buffer): Buffer {
    const question = query.subarray(12, endOfQuestion(query));
    const asksForAddress = question.readUInt16BE(question.length - 4) === TYPE_A;
    const isAnswered = asksForAddress && this.mode !== "refused";
    const head = Buffer.alloc(12);
    query.copy(head, 0, 0, 2);
    head.writeUInt16BE(0x8180 | (this.mode === "refused" ? REFUSED : 0), 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(isAnswered ? 1 : 0, 6);
    // The name of the question, an address, not to be kept.
    const answer = Buffer.from([
      0xc0,
      12,
      0,
      TYPE_A,
      0,
      1,
      0,
      0,
      0,
      0,
      0,
      4,
      127,
      0,
      0,
      this.mode === "wrong" ? 99 : 1,
    ]);
    return Buffer.concat(isAnswered ? [head, question, answer] : [head, question]);
  }
}

function endOfQuestion(query: Buffer): number {
  let at = 12;
  while ((query[at] ?? 0) > 0) at += (query[at] ?? 0) + 1;
  return at + 5;
}
