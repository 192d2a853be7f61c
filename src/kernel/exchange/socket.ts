/** A message on a socket: text or bytes. */
export type SocketMessage = string | Uint8Array;

/**
 * An open WebSocket. Iterate over it to read its messages; the loop ends when the socket does. Reading slowly slows the client
 * down: beyond a few unread messages nothing more is read from the connection.
 *
 * @example
 * ```ts
 * import { PorticoApp } from "portico";
 *
 * new PorticoApp().socket("/echo", async ({ socket }) => {
 *   for await (const message of socket) socket.send(message);
 * });
 * ```
 */
export interface Socket extends AsyncIterable<SocketMessage, void, void> {
  /** The negotiated subprotocol; empty without one. */
  readonly protocol: string;
  /** Bytes that the client has not read yet. */
  readonly bufferedAmount: number;
  /** Sends a message, or closes the socket with 1013 if the client has left too much unread. On a closed socket it does nothing. */
  send(data: SocketMessage): void;
  /** @default code 1000 */
  close(code?: number, reason?: string): void;
}
