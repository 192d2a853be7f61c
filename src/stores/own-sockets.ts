import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";

/** The sockets that one attempt has opened. */
const opened = new AsyncLocalStorage<Set<Socket>>();
let isWatching = false;

/**
 * Connects, and destroys every socket that the attempt has opened if it fails or `signal` is aborted meanwhile. A client that
 * gives up after a time limit may leave its socket to a server that hangs, and the process could not end.
 */
export async function ownSockets<T>(signal: AbortSignal, connect: () => Promise<T>): Promise<T> {
  if (!isWatching) subscribe("net.client.socket", (message) => opened.getStore()?.add((message as Opened).socket));
  isWatching = true;
  const sockets = new Set<Socket>();
  const destroy = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  signal.addEventListener("abort", destroy);
  try {
    return await opened.run(sockets, connect);
  } catch (error) {
    destroy();
    throw error;
  } finally {
    signal.removeEventListener("abort", destroy);
  }
}

interface Opened {
  readonly socket: Socket;
}
