import type { RedisAddress } from "portico/redis";
import { createClient } from "redis";
import { RedisServer } from "./redis-server.ts";
import { type Starting, startWithin } from "./start-within.ts";

const CLUSTER = [
  "--cluster-enabled",
  "yes",
  "--cluster-node-timeout",
  "1500",
  "--cluster-replica-validity-factor",
  "0",
];
const PRIMARIES = 3;
const SLOTS = 16_384;

/** Three primaries with a replica each, on free ports. */
export class RedisClusterServers {
  readonly servers: readonly RedisServer[];
  readonly #ids: readonly string[];

  private constructor(servers: readonly RedisServer[], ids: readonly string[]) {
    this.servers = servers;
    this.#ids = ids;
  }

  static start(): Promise<RedisClusterServers> {
    return startWithin("A Redis Cluster", (starting) => RedisClusterServers.#start(starting));
  }

  static async #start(starting: Starting): Promise<RedisClusterServers> {
    const buses = await Promise.all(Array.from({ length: 2 * PRIMARIES }, () => starting.port()));
    const servers = await Promise.all(
      buses.map((port) => startOne(starting, [...CLUSTER, "--cluster-port", String(port)])),
    );
    const ids = await Promise.all(servers.map(async (server) => String(await ask(server, ["CLUSTER", "MYID"]))));
    const [first] = servers;
    for (const [n, server] of servers.entries()) {
      await ask(server, ["CLUSTER", "MEET", "127.0.0.1", String(first?.port), String(buses[0])]);
      const from = Math.round((n * SLOTS) / PRIMARIES);
      const to = Math.round(((n + 1) * SLOTS) / PRIMARIES) - 1;
      if (n < PRIMARIES) await ask(server, ["CLUSTER", "ADDSLOTSRANGE", String(from), String(to)]);
    }
    await starting.until(async () =>
      (await Promise.all(servers.map(nodeCount))).every((count) => count === servers.length),
    );
    for (const [n, replica] of servers.slice(PRIMARIES).entries())
      await ask(replica, ["CLUSTER", "REPLICATE", ids[n] ?? ""]);
    await starting.until(async () => (await Promise.all(servers.map(isUp))).every(Boolean));
    return new RedisClusterServers(servers, ids);
  }

  get address(): RedisAddress {
    return { cluster: this.servers.slice(0, 2).map(({ url }) => url) };
  }

  id(n: number): string {
    return this.#ids[n] ?? "";
  }

  /** The server that has the slot of a key now. */
  async owner(key: string): Promise<RedisServer> {
    const live = this.servers.find(({ isRunning }) => isRunning);
    const slot = Number(await ask(live, ["CLUSTER", "KEYSLOT", key]));
    const ranges = (await ask(live, ["CLUSTER", "SLOTS"])) as [number, number, [string, number, string]][];
    // A server may announce the port of a proxy, so only the id tells which one it is.
    const owner = ranges.find(([from, to]) => from <= slot && slot <= to)?.[2][2];
    return this.servers[this.#ids.indexOf(owner ?? "")] as RedisServer;
  }

  /** The keys on all primaries. */
  async keys(): Promise<readonly string[]> {
    const found = await Promise.all((await this.#primaries()).map((server) => ask(server, ["KEYS", "*"])));
    return (found as (readonly string[])[]).flat();
  }

  /** Moves the slot of a key to another primary, with the keys in it, as an operator would. */
  async move(key: string, during: () => Promise<void> = async () => {}): Promise<void> {
    const from = await this.owner(key);
    const to = (await this.#primaries()).find((server) => server !== from);
    const slot = String(await ask(from, ["CLUSTER", "KEYSLOT", key]));
    const [fromId, toId] = [this.id(this.servers.indexOf(from)), this.id(this.servers.indexOf(to as RedisServer))];
    await ask(to, ["CLUSTER", "SETSLOT", slot, "IMPORTING", fromId]);
    await ask(from, ["CLUSTER", "SETSLOT", slot, "MIGRATING", toId]);
    const keys = (await ask(from, ["CLUSTER", "GETKEYSINSLOT", slot, "1000"])) as string[];
    if (keys.length > 0) await ask(from, ["MIGRATE", "127.0.0.1", String(to?.port), "", "0", "5000", "KEYS", ...keys]);
    await during();
    for (const server of await this.#primaries()) await ask(server, ["CLUSTER", "SETSLOT", slot, "NODE", toId]);
  }

  async remove(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.remove()));
  }

  async #primaries(): Promise<RedisServer[]> {
    const live = this.servers.filter(({ isRunning }) => isRunning);
    const roles = await Promise.all(live.map(async (server) => (await ask(server, ["ROLE"])) as string[]));
    return live.filter((_, n) => roles[n]?.[0] === "master");
  }
}

/** The user of replicas and Sentinels, which can be locked out. */
const WATCHER = ["--user", "watcher", "on", ">watch", "~*", "&*", "+@all"];
const WATCHES = ["--masteruser", "watcher", "--masterauth", "watch", "--repl-diskless-sync-delay", "0"];

/** A primary with a replica, and three Sentinels that watch it as `main`. */
export class RedisSentinelServers {
  readonly servers: readonly RedisServer[];
  readonly sentinels: readonly RedisServer[];

  private constructor(servers: readonly RedisServer[], sentinels: readonly RedisServer[]) {
    this.servers = servers;
    this.sentinels = sentinels;
  }

  /** @param options of each Sentinel, for the command line */
  static start(options: readonly string[] = []): Promise<RedisSentinelServers> {
    return startWithin("A Redis with Sentinels", (starting) => RedisSentinelServers.#start(starting, options));
  }

  static async #start(starting: Starting, options: readonly string[]): Promise<RedisSentinelServers> {
    const primary = await startOne(starting, [...WATCHER, ...WATCHES]);
    const replica = await startOne(starting, [
      ...WATCHER,
      ...WATCHES,
      "--replicaof",
      "127.0.0.1",
      String(primary.port),
    ]);
    const watch = `sentinel monitor main 127.0.0.1 ${primary.port} 2
sentinel auth-user main watcher
sentinel auth-pass main watch
sentinel down-after-milliseconds main 1000
sentinel failover-timeout main 3000`;
    const sentinels = await Promise.all([1, 2, 3].map(() => startOne(starting, options, watch)));
    const isSeen = async (sentinel: RedisServer): Promise<boolean> =>
      /slaves=1,sentinels=3/.test(String(await ask(sentinel, ["INFO", "sentinel"])));
    await starting.until(async () => (await Promise.all(sentinels.map(isSeen))).every(Boolean));
    await starting.until(async () => String(await ask(primary, ["INFO", "replication"])).includes("state=online"));
    return new RedisSentinelServers([primary, replica], sentinels);
  }

  get address(): RedisAddress {
    // Any password is right until there is one.
    return { sentinels: this.sentinels.map(({ url }) => url), primary: "redis://:app@main" };
  }

  /** Cuts the first primary off from its replica and the Sentinels. Applications still reach it. */
  async partition(): Promise<void> {
    for (const command of [
      ["ACL", "SETUSER", "watcher", "off"],
      // Otherwise, a connection that is not authenticated could do everything.
      ["ACL", "SETUSER", "default", "resetpass", ">app"],
      ["CLIENT", "KILL", "USER", "watcher"],
    ])
      await ask(this.servers[0], command, "app");
  }

  async heal(): Promise<void> {
    await ask(this.servers[0], ["ACL", "SETUSER", "default", "nopass"], "app");
    await ask(this.servers[0], ["ACL", "SETUSER", "watcher", "on"]);
  }

  /** Whether most Sentinels name the second server now. */
  async hasFailedOver(): Promise<boolean> {
    const named = await Promise.all(
      this.sentinels.map((sentinel) => ask(sentinel, ["SENTINEL", "GET-MASTER-ADDR-BY-NAME", "main"])),
    );
    const port = String(this.servers[1]?.port);
    return named.filter((address) => (address as readonly string[])[1] === port).length > named.length / 2;
  }

  async remove(): Promise<void> {
    await Promise.all([...this.sentinels, ...this.servers].map((server) => server.remove()));
  }
}

/** Sends one command to one server. */
export async function ask(
  server: RedisServer | undefined,
  command: readonly string[],
  password?: string,
): Promise<unknown> {
  const options = { url: server?.url ?? "", socket: { reconnectStrategy: false as const } };
  const client = createClient(password === undefined ? options : { ...options, password });
  client.on("error", () => {});
  await client.connect();
  try {
    return await client.sendCommand([...command]);
  } finally {
    client.destroy();
  }
}

async function nodeCount(server: RedisServer): Promise<number> {
  return Number(/cluster_known_nodes:(\d+)/.exec(String(await ask(server, ["CLUSTER", "INFO"])))?.[1]);
}

async function isUp(server: RedisServer): Promise<boolean> {
  const nodes = String(await ask(server, ["CLUSTER", "NODES"]));
  const replicas = nodes.split("\n").filter((line) => line.includes("slave"));
  return String(await ask(server, ["CLUSTER", "INFO"])).includes("cluster_state:ok") && replicas.length === PRIMARIES;
}

/** Starts one of several servers, which are removed together if one of them does not start. */
async function startOne(starting: Starting, options: readonly string[] = [], sentinel?: string): Promise<RedisServer> {
  const server = await RedisServer.start(options, sentinel);
  starting.onFailure(() => server.remove());
  return server;
}
