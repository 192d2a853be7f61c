import type { Target } from "./send.ts";

/** A subprotocol of WebSockets for GraphQL: the current one, and its predecessor. */
export type SocketProtocol = "graphql-transport-ws" | "graphql-ws";

/** The messages that a client sends over a WebSocket, at once after it opened. */
export interface SocketScript {
  readonly protocol: SocketProtocol;
  readonly messages: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  /** The conversation ends when a message of the server matches. Otherwise it ends when the server closes the socket. */
  readonly until?: RegExp;
}

/** The reaction of the server. */
export interface Conversation {
  readonly messages: readonly string[];
  /** The code with which the server closed the socket, or undefined if it stayed open or was never opened. */
  readonly closeCode: number | undefined;
}

/** Node's WebSocket takes headers. The types of browsers, which some programs load, do not know that. */
const SocketWithHeaders = WebSocket as unknown as new (
  url: URL,
  options: { readonly protocols: readonly string[]; readonly headers: Readonly<Record<string, string>> },
) => WebSocket;

/** Closing a socket that could not be opened is an error again. */
const ONCE = { once: true };

/**
 * Opens a WebSocket, sends the messages and collects those of the server. Ends after the timeout at the latest. A refused
 * upgrade is an error and a close, but on Node 22 only an error.
 */
export function talk(target: Target, script: SocketScript): Promise<Conversation> {
  const socket = open(target, script.protocol, script.headers);
  const messages: string[] = [];
  let isOpen = false;
  return new Promise((resolve) => {
    const end = (closeCode?: number): void => {
      clearTimeout(timer);
      socket.close();
      resolve({ messages, closeCode });
    };
    const timer = setTimeout(end, target.timeoutSeconds * 1_000);
    socket.addEventListener("open", () => {
      isOpen = true;
      for (const message of script.messages) socket.send(message);
    });
    socket.addEventListener("message", ({ data }) => {
      messages.push(String(data));
      if (script.until?.test(String(data)) === true) end();
    });
    socket.addEventListener("close", ({ code }) => end(isOpen ? code : undefined));
    socket.addEventListener("error", () => isOpen || end(), ONCE);
  });
}

/** Whether the server accepts an upgrade to a WebSocket with this subprotocol. */
export function acceptsSocket(target: Target, protocol: SocketProtocol): Promise<boolean> {
  const socket = open(target, protocol);
  return new Promise((resolve) => {
    const end = (isAccepted: boolean): void => {
      clearTimeout(timer);
      socket.close();
      resolve(isAccepted);
    };
    const timer = setTimeout(end, target.timeoutSeconds * 1_000, false);
    socket.addEventListener("open", () => end(socket.protocol === protocol));
    socket.addEventListener("close", () => end(false));
    socket.addEventListener("error", () => end(false), ONCE);
  });
}

function open({ url, headers }: Target, protocol: SocketProtocol, more: SocketScript["headers"] = {}): WebSocket {
  const address = new URL(url);
  address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
  return new SocketWithHeaders(address, { protocols: [protocol], headers: { ...headers, ...more } });
}
