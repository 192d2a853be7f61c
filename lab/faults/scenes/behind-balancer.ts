import { connect, type Socket } from "node:net";
import { TcpProxy } from "../../servers/tcp-proxy.ts";
import type { AppProcess } from "../app-process.ts";
import type { Scene } from "../cell.ts";

type Breaks = (balancer: TcpProxy, app: AppProcess) => unknown;

/** Clients reach the application through a load balancer. */
export function behindBalancer(breaks: Breaks): () => Promise<Scene> {
  return async () => {
    let balancer: TcpProxy | null = null;
    return {
      settings: {},
      front: async (port) => {
        balancer = await TcpProxy.start(port);
        return balancer.port;
      },
      break: (app) => (balancer === null ? undefined : breaks(balancer, app)),
      remove: async () => balancer?.close().catch(() => {}),
    };
  };
}

/** Opens connections that send nothing. */
export async function idleConnections(port: number, count: number): Promise<readonly Socket[]> {
  return Promise.all(
    Array.from({ length: count }, () => {
      const socket = connect(port, "127.0.0.1");
      socket.on("error", () => {}).unref();
      return new Promise<Socket>((resolve) => socket.once("connect", () => resolve(socket)));
    }),
  );
}
