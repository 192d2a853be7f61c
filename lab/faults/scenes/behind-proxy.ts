import { setTimeout as sleep } from "node:timers/promises";
import type { TcpProxy } from "../../servers/tcp-proxy.ts";
import type { AppProcess } from "../app-process.ts";
import type { Cell, Fault, Resource, Scene, Seen } from "../cell.ts";

/** A server that can be broken as a whole. */
export interface AnyServer {
  kill(): Promise<void>;
  freeze(): void;
  thaw(): void;
}

/** The proxy in front of a server, or of several that break together. */
export type Wire = Pick<TcpProxy, "shape" | "silence" | "reset" | "refuse" | "endRefusal" | "garble" | "close">;

/** A server, and the proxy through which the application reaches it. */
export interface Reached<Server> {
  readonly server: Server;
  readonly proxy: Wire;
}

/** Breaks something, and may return the function that ends the fault. */
export type Breaks<Server> = (reached: Reached<Server>, app: AppProcess) => unknown;

/** A running server with its proxy, and what of a scene depends on it. */
export interface Place<Server> extends Reached<Server>, Omit<Scene, "break" | "end"> {
  /** Starts the server again if it is gone. It is thawed before. */
  readonly restart: () => unknown;
}

const FLAPS = 8;
const FLAP_MS = 300;
const DELAY_MS = 50;

/** The faults that every server behind a proxy can have. */
export type TcpFault = Exclude<Fault, "full">;

const TCP_FAULTS: Readonly<Record<TcpFault, Breaks<AnyServer>>> = {
  gone: ({ server }) => server.kill(),
  frozen: ({ server }) => server.freeze(),
  slow: ({ proxy }) => proxy.shape({ delayMs: DELAY_MS }),
  partitioned: ({ proxy }) => proxy.silence(),
  flapping: async ({ proxy }) => {
    for (let count = 0; count < FLAPS; count++) {
      proxy.reset();
      await sleep(FLAP_MS);
    }
  },
  refusing: ({ proxy }) => proxy.refuse(),
  "answering wrongly": ({ proxy }) => proxy.garble("client"),
};

/** One cell for each of these faults of a server. */
export function tcpCells<Server extends AnyServer>(
  resource: Resource,
  open: () => Promise<Place<Server>>,
  sees: Readonly<Partial<Record<TcpFault, Seen>>>,
): readonly Cell[] {
  return (Object.entries(sees) as [TcpFault, Seen][]).map(([fault, seen]) => ({
    resource,
    fault,
    sees: seen,
    start: sceneOf(open, TCP_FAULTS[fault]),
  }));
}

/** A scene in which the application reaches a server through a proxy. */
export function sceneOf<Server extends AnyServer>(
  open: () => Promise<Place<Server>>,
  breaks: Breaks<Server>,
): () => Promise<Scene> {
  return async () => {
    const { restart, ...place } = await open();
    let end: unknown;
    return {
      ...place,
      break: async (app) => {
        end = await breaks(place, app);
      },
      end: async () => {
        place.server.thaw();
        if (typeof end === "function") await end();
        await restart();
      },
      remove: async () => {
        place.server.thaw();
        await place.proxy.close();
        await place.remove();
      },
    };
  };
}
