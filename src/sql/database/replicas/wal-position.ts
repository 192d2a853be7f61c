import { CompiledQuery, type QueryResult } from "kysely";

/** A place in the write-ahead log of PostgreSQL. */
export interface WalPosition {
  /** The identifier that a primary and its replicas share. */
  readonly cluster: string;
  /** The length of the log up to this place. */
  readonly bytes: bigint;
}

/** Runs a statement on a pool or a connection. */
type Run = (query: CompiledQuery) => Promise<QueryResult<unknown>>;

/** Returns the end of the log of a primary. All commits so far are before it, even those that did not wait for the disk. */
export async function writtenPosition(run: Run): Promise<WalPosition> {
  return (await positionOf(run, WRITTEN)) as WalPosition;
}

/** Returns the place up to which a replica shows the changes of its primary, or `null` if the server is not a replica. */
export function replayedPosition(run: Run): Promise<WalPosition | null> {
  return positionOf(run, REPLAYED);
}

async function positionOf(run: Run, query: CompiledQuery): Promise<WalPosition | null> {
  const { rows } = await run(query);
  const { cluster, bytes } = rows[0] as { readonly cluster: string; readonly bytes: string | null };
  return bytes === null ? null : { cluster, bytes: BigInt(bytes) };
}

const WRITTEN = CompiledQuery.raw(
  "select system_identifier::text as cluster, pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::text as bytes from pg_control_system()",
);
const REPLAYED = CompiledQuery.raw(
  "select system_identifier::text as cluster, case when pg_is_in_recovery() then pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::text end as bytes from pg_control_system()",
);
