import type { Socket } from "node:net";
import type * as pg from "pg";

/** The entries of `pg` that the pool needs. */
export type Pg = Pick<typeof pg, "Client" | "Connection" | "Pool">;

/** A client of `pg`, with the parts that its types leave out. */
export interface WireClient extends pg.ClientBase {
  readonly host: string;
  readonly port: number;
  readonly ssl: pg.ClientConfig["ssl"];
  readonly sslNegotiation?: string;
  readonly processID: number | null;
  readonly secretKey: number | null;
  readonly connection: { readonly stream: Socket };
  end(done?: () => void): Promise<void>;
}

interface WireConnection extends pg.Connection {
  connect(portOrPath: number | string, host?: string): void;
  requestSsl(): void;
  cancel(processId: number, secretKey: number): void;
}

/** The server closes the connection of a cancel request; a silent one is not waited for. */
const CANCEL_MS = 5_000;

/**
 * Asks the server over a connection of its own to cancel what the client runs. The request carries the secret of the client's
 * connection, so another server behind the same address ignores it. Never throws; nothing tells whether it arrived.
 */
export function cancelStatement({ Connection }: Pg, client: WireClient): void {
  const { host, port, ssl, processID, secretKey } = client;
  if (processID === null || secretKey === null) return;
  const line = new Connection({ ssl }) as WireConnection;
  const cancel = (): void => line.cancel(processID, secretKey);
  line.on("error", () => {});
  line.on("connect", () => {
    if (ssl === undefined || ssl === false) cancel();
    else if (client.sslNegotiation !== "direct") line.requestSsl();
  });
  line.on("sslconnect", cancel);
  const timer = setTimeout(() => line.stream.destroy(), CANCEL_MS).unref();
  line.once("end", () => clearTimeout(timer));
  if (host.startsWith("/")) line.connect(`${host}/.s.PGSQL.${port}`);
  else line.connect(port, host);
  (line.stream as Socket).unref();
}

/** How long a connection that is closed waits for the server, and a pool that is closed for its statements. */
export const CLOSE_MS = 500;

/** `end` waits for the server to close the connection: for a moment, no longer. */
export function boundEnd(client: WireClient): void {
  const end = client.end.bind(client);
  client.end = (done?: () => void): Promise<void> => {
    const { stream } = client.connection;
    // Not unref: a process that waits for this has nothing else to do.
    const timer = setTimeout(() => stream.destroy(), CLOSE_MS);
    stream.once("close", () => clearTimeout(timer));
    return end(done);
  };
}
