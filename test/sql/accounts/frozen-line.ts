import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A line to PostgreSQL on which those who listen can be left without an answer, as by a network that drops packets. */
export interface FrozenLine {
  readonly url: string;
  /** From now on nothing arrives on the connections that listen at this moment; none of them is told. */
  freeze(): void;
  close(): Promise<void>;
}

export async function frozenLine(url: string): Promise<FrozenLine> {
  const target = new URL(url);
  const open = new Set<Socket>();
  const listening = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => open.delete(socket));
    }
    client.on("data", (chunk) => {
      if (chunk.includes('listen "portico_')) listening.add(upstream);
      upstream.write(chunk);
    });
    upstream.on("data", (chunk) => client.write(chunk));
    client.on("close", () => upstream.destroy());
    upstream.on("close", () => client.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const through = new URL(url);
  through.port = String((server.address() as AddressInfo).port);
  return {
    url: through.href,
    freeze() {
      for (const socket of listening) socket.removeAllListeners("data").pause();
    },
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
