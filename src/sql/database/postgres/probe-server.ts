import type { Pg, WireClient } from "./wire-client.ts";

/** The server that a new connection reaches, and its activity. */
export interface ServerReport {
  /** When the server was started. */
  readonly server: string;
  /** The requested process ids that are not idle. */
  readonly busy: readonly number[];
  /** Whether a pooler is in between, which invents process ids. */
  readonly isPooled: boolean;
}

const TIMEOUT_MS = 2_000;

/**
 * Checks over a separate connection which of these server processes are active. Returns `null` if the server does not
 * respond.
 */
export async function probeServer(
  { Client }: Pg,
  connectionString: string,
  processIds: readonly number[],
): Promise<ServerReport | null> {
  const client = new Client({ connectionString, connectionTimeoutMillis: TIMEOUT_MS }) as WireClient &
    InstanceType<typeof Client>;
  client.on("error", () => {});
  const timer = setTimeout(() => client.connection.stream.destroy(), TIMEOUT_MS).unref();
  client.once("end", () => clearTimeout(timer));
  try {
    await client.connect();
    const { rows } = await client.query<{ server: string; busy: number[]; own: number }>(QUESTION, [processIds]);
    const [row] = rows;
    return row === undefined ? null : { ...row, isPooled: row.own !== client.processID };
  } catch {
    return null;
  } finally {
    void client.end().catch(() => {});
  }
}

// Without track_activities, there is no state. A cursor between two reads waits for its client but is still active.
const QUESTION = `select extract(epoch from pg_postmaster_start_time())::text as server, pg_backend_pid() as own, array(
  select pid from pg_stat_activity where pid = any($1::int[]) and (state is null or state not like 'idle%')
    and wait_event is distinct from 'ClientRead'
) as busy`;
