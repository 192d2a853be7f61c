import type { Pg, WireClient } from "./wire-client.ts";

/** The server that a new connection reaches, and what it works on. */
export interface ServerReport {
  /** When it was started. */
  readonly server: string;
  /** Process ids, of those asked about, that are not idle. */
  readonly busy: readonly number[];
  /** Whether a pooler stands in between and makes process ids up. */
  readonly isPooled: boolean;
}

const PATIENCE_MS = 2_000;

/** Asks over a connection of its own which of these processes of the server are at work; `null` when nobody answers. */
export async function probeServer(
  { Client }: Pg,
  connectionString: string,
  processIds: readonly number[],
): Promise<ServerReport | null> {
  const client = new Client({ connectionString, connectionTimeoutMillis: PATIENCE_MS }) as WireClient &
    InstanceType<typeof Client>;
  client.on("error", () => {});
  const timer = setTimeout(() => client.connection.stream.destroy(), PATIENCE_MS).unref();
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

// Without track_activities there is no state. A cursor between two reads waits for its client, and is active all the same.
const QUESTION = `select extract(epoch from pg_postmaster_start_time())::text as server, pg_backend_pid() as own, array(
  select pid from pg_stat_activity where pid = any($1::int[]) and (state is null or state not like 'idle%')
    and wait_event is distinct from 'ClientRead'
) as busy`;
