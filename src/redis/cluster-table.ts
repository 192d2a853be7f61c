import { isInstance } from "../core/describe-error.ts";
import { atHost } from "./redis-address.ts";

/** Which node of a cluster has which slots. */
export interface ClusterTable {
  /** Grows with every failover, so that an older table can be recognized. */
  readonly epoch: number;
  /** The URL of the primary of each slot; `undefined` for a slot without one. */
  readonly owners: readonly (string | undefined)[];
}

/** `[first slot, last slot, [host, port, ...] of the primary, ...replicas]` */
type Range = readonly [number, number, readonly [string | null, number, ...unknown[]], ...unknown[]];

/**
 * Asks a node for the table. Rejects if the node does not belong to the majority of the cluster, because its table may be old.
 *
 * @param url the URL of the node, with the user and protocol for all of them
 */
export async function readClusterTable(
  url: string,
  ask: (command: readonly string[]) => Promise<unknown>,
): Promise<ClusterTable> {
  const [info, ranges] = await Promise.all([ask(["CLUSTER", "INFO"]), ask(["CLUSTER", "SLOTS"])]);
  if (!/^cluster_state:ok/m.test(String(info))) throw new Error("the cluster is down");
  const epoch = Number(/^cluster_current_epoch:(?<epoch>\d+)/m.exec(String(info))?.groups?.["epoch"] ?? 0);
  const owners: (string | undefined)[] = [];
  for (const [first, last, [host, port]] of ranges as readonly Range[])
    for (let slot = first; slot <= last; slot++) owners[slot] = nodeUrl(url, host, port);
  return { epoch, owners };
}

/** A redirection to another node, from an error such as `MOVED 3999 127.0.0.1:6381`. */
export interface Redirection {
  readonly url: string;
  /** Whether only this command belongs there, because the slot is being moved. */
  readonly isAsk: boolean;
}

export function readRedirection(url: string, error: unknown): Redirection | null {
  const reply = isInstance(error, Error) && isInstance(error.cause, Error) ? error.cause.message : "";
  const found = /^(?<kind>MOVED|ASK) \d+ (?<host>\S*):(?<port>\d+)$/.exec(reply)?.groups;
  if (found === undefined) return null;
  return { url: nodeUrl(url, found["host"] ?? null, Number(found["port"])), isAsk: found["kind"] === "ASK" };
}

/** A node that does not know its own host name is at the host that we asked. */
function nodeUrl(url: string, host: string | null, port: number): string {
  return atHost(url, host === null || host === "" || host === "?" ? new URL(url).hostname : host, port);
}
