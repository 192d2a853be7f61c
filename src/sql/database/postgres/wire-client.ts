import type { Socket } from "node:net";
import type * as pg from "pg";

/** The exports of `pg` that the pool needs. */
export type Pg = Pick<typeof pg, "Client" | "Connection" | "Pool">;

/** A client of `pg`, including members that its types leave out. */
export interface WireClient extends pg.ClientBase {
  readonly host: string;
  readonly port: number;
  readonly ssl: pg.ClientConfig["ssl"];
  readonly sslNegotiation?: string;
  readonly processID: number | null;
  readonly secretKey: number | null;
  readonly connection: { readonly stream: Socket };
  pipeline?: boolean;
  end(done?: () => void): Promise<void>;
}

interface WireConnection extends pg.Connection {
  connect(portOrPath: number | string, host?: string): void;
  requestSsl(): void;
  cancel(processId: number, secretKey: number): void;
}

/** How long to wait until the server closes the connection of a cancel request. */
const CANCEL_MS = 5_000;

/**
 * Requests over a separate connection that the server cancel the client's statement. The request contains the secret of
 * the client's connection, so another server behind the same address ignores it. Never throws, and does not report
 * whether the request arrived.
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

/** How long closing a connection waits for the server, and closing a pool for its statements. */
export const CLOSE_MS = 500;

/** Limits how long `end` waits for the server to close the connection. */
export function boundEnd(client: WireClient): void {
  const end = client.end.bind(client);
  client.end = (done?: () => void): Promise<void> => {
    const { stream } = client.connection;
    // The timer is not unref'd, because a process that waits for this has nothing else to keep it alive.
    const timer = setTimeout(() => stream.destroy(), CLOSE_MS);
    stream.once("close", () => clearTimeout(timer));
    return end(done);
  };
}
