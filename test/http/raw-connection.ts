import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** A bare connection: what is written is what the server gets, byte for byte. */
export interface RawConnection {
  readonly socket: Socket;
  /** What came back so far. */
  readonly received: () => string;
  /** Ends when the connection does. */
  readonly closed: Promise<void>;
  /** Waits until what came back contains `text`. */
  until(text: string): Promise<string>;
}

export async function rawConnection(port: number): Promise<RawConnection> {
  const socket = connect(port, "127.0.0.1");
  let received = "";
  socket.on("data", (chunk) => {
    received += chunk.toString("latin1");
  });
  // A server that cuts the connection is what these tests are about.
  socket.on("error", () => {});
  const closed = new Promise<void>((resolve) => {
    socket.on("close", () => resolve());
  });
  await once(socket, "connect");
  return {
    socket,
    received: () => received,
    closed,
    async until(text) {
      while (!received.includes(text)) {
        if (socket.closed) throw new Error(`the connection ended after: ${received}`);
        await Promise.race([once(socket, "data"), closed]);
      }
      return received;
    },
  };
}

/** Writes chunks as fast as they are taken, until the connection ends or all are written; gives the bytes that left. */
export async function flood({ socket, closed }: RawConnection, chunk: Buffer, times: number): Promise<number> {
  const state = { isClosed: false };
  void closed.then(() => {
    state.isClosed = true;
  });
  for (let sent = 0; sent < times && !state.isClosed; sent++) {
    if (!socket.write(chunk)) await Promise.race([once(socket, "drain").catch(() => {}), closed]);
  }
  return socket.bytesWritten - socket.writableLength;
}
