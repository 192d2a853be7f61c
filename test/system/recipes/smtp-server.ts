import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";

/** A mail server that accepts every email. */
export interface SmtpServer {
  readonly url: string;
  /** The emails so far, as they were sent. */
  readonly emails: readonly string[];
  /** Resolves when there are this many emails. */
  received(count: number): Promise<void>;
  /** Holds the confirmation of emails back until the returned function is called. */
  hold(): () => void;
  close(): Promise<void>;
}

export async function smtpServer(): Promise<SmtpServer> {
  const emails: string[] = [];
  const sockets = new Set<Socket>();
  let held: Promise<void> = Promise.resolve();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket)).on("error", () => {});
    talk(socket, async (email) => {
      emails.push(email);
      server.emit("email");
      await held;
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    emails,
    async received(count) {
      while (emails.length < count) await once(server, "email");
    },
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return resolve;
    },
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** The commands of one connection (RFC 5321), without extensions. */
function talk(socket: Socket, accept: (email: string) => Promise<void>): void {
  let unread = "";
  let isData = false;
  socket.write("220 ready\r\n");
  socket.setEncoding("utf8").on("data", (chunk: string) => {
    unread += chunk;
    for (let end = endOf(); end !== -1; end = endOf()) {
      const text = unread.slice(0, end);
      unread = unread.slice(end + (isData ? 5 : 2));
      if (isData) {
        isData = false;
        void accept(text).then(() => socket.write("250 accepted\r\n"));
      } else if (/^DATA/i.test(text)) {
        isData = true;
        socket.write("354 go on\r\n");
      } else socket.write(/^QUIT/i.test(text) ? "221 bye\r\n" : "250 ok\r\n");
    }
  });
  const endOf = (): number => unread.indexOf(isData ? "\r\n.\r\n" : "\r\n");
}
