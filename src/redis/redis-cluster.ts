import type { Logger } from "../core/logger.ts";
import { outsideRequest } from "../core/outside-request.ts";
import { inBackground } from "../core/work/in-background.ts";
import { withTimeout } from "../core/work/with-timeout.ts";
import { startWithin } from "../stores/start-within.ts";
import { type ClusterTable, readClusterTable, readRedirection } from "./cluster-table.ts";
import { hashSlot } from "./hash-slot.ts";
import { type RedisClusterAddress, redisHost } from "./redis-address.ts";
import { type RedisClient, redisClient } from "./redis-client.ts";
import { HEARTBEAT_MS, RedisConnection, storeFailure } from "./redis-connection.ts";
import type { RedisLink, RedisLinkOptions } from "./redis-link.ts";

/** A command is redirected twice at most while a slot moves. More means that the nodes disagree. */
const MAX_REDIRECTIONS = 5;

/**
 * The primaries of a Redis Cluster, one connection each. A command goes to the primary of its key and is sent again only if that
 * node did not execute it, but named another one. While a primary is down, only commands for its slots fail.
 *
 * The table of slots is read again every second, and at once after a redirection or a lost connection, from a node that
 * belongs to the majority.
 */
export class RedisCluster implements RedisLink {
  readonly #seeds: readonly string[];
  readonly #options: RedisLinkOptions;
  readonly #host: string;
  readonly #nodes = new Map<string, RedisConnection>();
  #table: ClusterTable = { epoch: 0, owners: [] };
  /** Settled when the table was read once. */
  readonly #stood: PromiseWithResolvers<void> = Promise.withResolvers();
  #reading: Promise<void> | null = null;
  #first: Promise<void> | null = null;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  #cause: unknown;
  #log: Logger | undefined;

  constructor(address: RedisClusterAddress, options: RedisLinkOptions) {
    this.#seeds = address.cluster;
    this.#options = options;
    this.#host = redisHost(address);
  }

  isReady(key?: string): boolean {
    if (key !== undefined) return this.#nodes.get(this.#owner(key) ?? "")?.isReady() ?? false;
    return this.#nodes.size > 0 && [...this.#nodes.values()].every((node) => node.isReady());
  }

  open(log?: Logger): void {
    this.#log = log ?? this.#log;
    if (this.#isClosed || this.#timer !== undefined) return;
    this.#timer = setInterval(() => inBackground(this.#read()), HEARTBEAT_MS).unref();
    this.#first = this.#read();
  }

  async start(log: Logger): Promise<void> {
    this.open(log);
    // A node may be failing over while the others have already told which slots it owns.
    const ready = (): Promise<void> => this.#stood.promise.then(() => this.check());
    await startWithin(this.#options.role, `Redis at ${this.#host}`, ready, () => this.#cause);
  }

  async check(): Promise<void> {
    await Promise.all((await this.servers()).map((server) => server.check()));
  }

  send(key: string, command: readonly string[]): Promise<unknown> {
    return this.run(key, (client) => client.sendCommand(command));
  }

  async run<T>(key: string, work: (client: RedisClient) => Promise<T>): Promise<T> {
    await this.#begun();
    let url = this.#owner(key);
    let isAsk = false;
    for (let redirections = 0; ; redirections++) {
      if (url === undefined || this.#isClosed) throw storeFailure(this.#options.role, this.#cause, this.#isClosed);
      try {
        return await this.#node(url).run(key, isAsk ? (client) => work(asking(client)) : work);
      } catch (error) {
        inBackground(this.#read());
        const there = readRedirection(url, error);
        if (there === null || redirections === MAX_REDIRECTIONS) throw error;
        ({ url, isAsk } = there);
        if (!isAsk) this.#take({ ...this.#table, owners: this.#table.owners.with(hashSlot(key), url) });
      }
    }
  }

  noteLife(key: string): void {
    this.#nodes.get(this.#owner(key) ?? "")?.noteLife();
  }

  async servers(): Promise<readonly RedisLink[]> {
    await this.#begun();
    if (this.#nodes.size === 0) throw storeFailure(this.#options.role, this.#cause, this.#isClosed);
    return [...this.#nodes.values()];
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await Promise.all([...this.#nodes.values()].map((node) => node.close()));
  }

  async #begun(): Promise<void> {
    if (this.#table.owners.length > 0) return;
    this.open();
    await this.#first;
  }

  #owner(key: string): string | undefined {
    return this.#table.owners[hashSlot(key)];
  }

  #node(url: string): RedisConnection {
    const present = this.#nodes.get(url);
    if (present !== undefined) return present;
    const node = new RedisConnection(
      { locate: async () => url },
      {
        ...this.#options,
        host: redisHost(url),
        isSharded: true,
        onLost: () => {
          this.#options.onLost?.((key) => this.#owner(key) === url);
          inBackground(this.#read());
        },
      },
    );
    this.#nodes.set(url, node);
    node.open(this.#log);
    return node;
  }

  #read(): Promise<void> {
    this.#reading ??= outsideRequest(() => this.#readAny()).finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  /** Asks the connected nodes, another one first each time, and then those of the address. */
  async #readAny(): Promise<void> {
    const [first, ...others] = [...this.#nodes].filter(([, node]) => node.isReady());
    const connected = first === undefined ? [] : [...others, first];
    if (first !== undefined) this.#nodes.delete(first[0]);
    if (first !== undefined) this.#nodes.set(...first);
    const asks = [
      ...connected.map(
        ([url, node]) =>
          () =>
            readClusterTable(url, (command) => node.send("", command)),
      ),
      ...this.#seeds.map((url) => () => this.#readSeed(url)),
    ];
    for (const ask of asks) {
      if (this.#isClosed) return;
      try {
        const table = await ask();
        if (this.#isClosed || table.epoch < this.#table.epoch) continue;
        this.#take(table);
        this.#stood.resolve();
        return;
      } catch (cause) {
        this.#cause = cause;
      }
    }
  }

  async #readSeed(url: string): Promise<ClusterTable> {
    const client = redisClient(url, this.#options);
    client.on("error", () => {});
    try {
      await withTimeout(this.#options.timeoutMs, client.connect());
      return await readClusterTable(url, (command) =>
        withTimeout(this.#options.timeoutMs, client.sendCommand(command)),
      );
    } finally {
      client.destroy();
    }
  }

  #take(table: ClusterTable): void {
    const before = this.#table.owners;
    this.#table = table;
    const owners = new Set(table.owners);
    for (const url of owners) if (url !== undefined) this.#node(url);
    for (const [url, node] of this.#nodes) {
      if (owners.has(url)) continue;
      this.#nodes.delete(url);
      inBackground(node.close());
    }
    const isMoved = (slot: number): boolean => before[slot] !== undefined && before[slot] !== table.owners[slot];
    if (!before.some((_, slot) => isMoved(slot))) return;
    this.#options.onLost?.((key) => isMoved(hashSlot(key)));
    this.#options.onReady?.();
  }
}

/** A view of the connection for commands of a slot that is being moved to that node. */
function asking(client: RedisClient): RedisClient {
  return {
    ...client,
    sendCommand: (command) => {
      // Both are written before either is answered, so nothing comes between them.
      void client.sendCommand(["ASKING"]).catch(() => {});
      return client.sendCommand(command);
    },
  };
}
