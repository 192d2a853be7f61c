import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A proxy to PostgreSQL that can stop forwarding to listening connections, as a network that drops packets would. */
export interface FrozenLine {
  readonly url: string;
  /** From now on, nothing arrives on the connections that are listening now, and none of them is closed. */
  freeze(): void;
  /** From now on, nothing passes on the open connections in either direction, and none is closed. New ones work. */
  silence(): void;
  close(): Promise<void>;
}

export async function frozenLine(url: string): Promise<FrozenLine> {
  const target = new URL(url);
  const open = new Set<Socket>();
  const listening = new Set<Socket>();
  const pairs = new Set<{ isSilent: boolean }>();
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const pair = { isSilent: false };
    pairs.add(pair);
    const upstream = connect({ port: Number(target.port), host: target.hostname, allowHalfOpen: true });
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => open.delete(socket));
    }
    client.on("data", (chunk) => {
      if (chunk.includes('listen "portico_')) listening.add(upstream);
      if (!pair.isSilent) upstream.write(chunk);
    });
    upstream.on("data", (chunk) => {
      if (!pair.isSilent) client.write(chunk);
    });
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.on("end", () => {
        if (!pair.isSilent) to.end();
      });
      from.on("close", () => {
        if (!pair.isSilent) to.destroy();
      });
    }
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
    silence() {
      for (const pair of pairs) pair.isSilent = true;
    },
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
