import { isReply, type RedisClient } from "./redis-client.ts";

/** How long a primary waits for a replica. Other commands of the connection wait as well. */
const WAIT_MS = 500;
/** After a replica was silent for that long, the primary is not asked to wait again for a while. */
const PAUSE_MS = 1_000;

/** Decides whether writes have reached a replica, for the servers of one link. */
export class ReplicaConfirmation {
  /** The primaries that have had a replica, by the id of their data, and when a replica was last silent. */
  readonly #replicated = new Map<string, number>();

  /** Notes whether the server has replicas. Without that, a primary that has lost them looks like a single server. */
  async note(client: RedisClient): Promise<{ readonly id: string; readonly replicas: number } | null> {
    const info = await replication(client);
    if (info !== null && info.replicas > 0 && !this.#replicated.has(info.id))
      this.#replicated.set(info.id, Number.NEGATIVE_INFINITY);
    return info;
  }

  /**
   * Resolves with whether everything that was written to the server so far has reached a replica. A server that has never had
   * one needs no confirmation, nor does one that rejects `INFO`.
   *
   * @param key a key of that server, which is written
   */
  async confirm(client: RedisClient, key: string): Promise<boolean> {
    // The write is the newest one, so the acknowledgement includes all before it, also those of other connections.
    const [info] = await Promise.all([this.note(client), client.sendCommand(["SET", key, "1", "PX", "1000"])]);
    const silentAt = info === null ? undefined : this.#replicated.get(info.id);
    if (info === null || silentAt === undefined) return true;
    if (info.replicas === 0 || performance.now() - silentAt < PAUSE_MS) return false;
    if (Number(await client.sendCommand(["WAIT", "1", String(WAIT_MS)])) > 0) return true;
    this.#replicated.set(info.id, performance.now());
    return false;
  }

  /** Returns why a failover may discard acknowledged writes for longer than necessary, or `null`. */
  async warning(client: RedisClient): Promise<string | null> {
    const info = await this.note(client);
    if (info === null || info.replicas === 0) return null;
    const effect =
      "so a primary that is cut off from its replicas accepts writes that a failover discards: set it to 1";
    try {
      const answer = await client.sendCommand(["CONFIG", "GET", "min-replicas-to-write"]);
      const [value] = Object.values(answer as Readonly<Record<string, string>>);
      return value === "0" ? `redis: min-replicas-to-write of the durable store is 0, ${effect}` : null;
    } catch (error) {
      if (!isReply(error)) throw error;
      return `redis: could not read min-replicas-to-write of the durable store; it may be 0, ${effect}`;
    }
  }
}

async function replication(client: RedisClient): Promise<{ readonly id: string; readonly replicas: number } | null> {
  try {
    const info = String(await client.sendCommand(["INFO", "replication"]));
    const id = /^master_replid:(?<id>\w+)/m.exec(info)?.groups?.["id"];
    const replicas = /^connected_slaves:(?<count>\d+)/m.exec(info)?.groups?.["count"];
    return id === undefined || replicas === undefined ? null : { id, replicas: Number(replicas) };
  } catch (error) {
    if (!isReply(error)) throw error;
    return null;
  }
}
