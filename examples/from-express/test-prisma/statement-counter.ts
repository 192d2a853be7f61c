import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { connect, createServer, type Server, type Socket } from "node:net";

/** A proxy for PostgreSQL that counts the statements which pass through it. */
export class StatementCounter {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #count = 0;

  private constructor(target: URL) {
    this.#server = createServer((client) => {
      const database = connect(Number(target.port || 5432), target.hostname);
      this.#forward(client, database);
      this.#forward(database, client);
      client.on("data", this.#reader());
    });
  }

  static async open(target: URL): Promise<StatementCounter> {
    const counter = new StatementCounter(target);
    await once(counter.#server.listen(0, "127.0.0.1"), "listening");
    return counter;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Returns the number of statements that `work` sends. */
  async during(work: () => Promise<unknown>): Promise<number> {
    const start = this.#count;
    await work();
    return this.#count - start;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #forward(from: Socket, to: Socket): void {
    this.#sockets.add(from);
    from.on("error", () => to.destroy());
    from.pipe(to);
  }

  /** Reads the messages of a client: a type of one byte, except for the first message, and a length of four. */
  #reader(): (chunk: Buffer) => void {
    let rest = Buffer.alloc(0);
    let typeBytes = 0;
    return (chunk) => {
      rest = Buffer.concat([rest, chunk]);
      while (rest.length >= typeBytes + 4) {
        const end = typeBytes + rest.readUInt32BE(typeBytes);
        if (rest.length < end) return;
        const type = typeBytes === 0 ? "" : String.fromCharCode(rest[0] ?? 0);
        if (type === "E" || type === "Q") this.#count += 1;
        rest = rest.subarray(end);
        typeBytes = 1;
      }
    };
  }
}
