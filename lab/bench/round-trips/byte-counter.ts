import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** A proxy that counts the bytes between an application and one of its servers. */
export class ByteCounter {
  sent = 0;
  received = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor(port: number) {
    this.#server = createServer((client) => {
      const server = connect(port, "127.0.0.1");
      for (const socket of [client, server]) {
        socket.setNoDelay(true).on("error", () => {});
        this.#sockets.add(socket);
      }
      client.on("data", (data) => {
        this.sent += data.length;
      });
      server.on("data", (data) => {
        this.received += data.length;
      });
      client.pipe(server);
      server.pipe(client);
    });
  }

  /** Returns the port to connect to. */
  async listen(): Promise<number> {
    await once(this.#server.listen(0, "127.0.0.1"), "listening");
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}
