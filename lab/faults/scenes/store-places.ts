import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { NatsServer } from "../../servers/nats-server.ts";
import { ask, RedisClusterServers, RedisSentinelServers } from "../../servers/redis-cluster-servers.ts";
import { RedisServer } from "../../servers/redis-server.ts";
import { TcpProxy } from "../../servers/tcp-proxy.ts";
import type { AnyServer, Place, Wire } from "./behind-proxy.ts";

export async function redisPlace(): Promise<Place<RedisServer>> {
  const server = await RedisServer.start();
  const proxy = await TcpProxy.start(server.port);
  return {
    server,
    proxy,
    settings: { redis: proxy.through(server.url) },
    restart: () => {},
    remove: () => server.remove(),
  };
}

/** The server is a replica, and the proxy is between it and its primary. */
export async function redisReplicaPlace(): Promise<Place<RedisServer> & { readonly primary: RedisServer }> {
  const primary = await RedisServer.start(["--repl-diskless-sync-delay", "0"]);
  const proxy = await TcpProxy.start(primary.port);
  const server = await RedisServer.start(["--replicaof", "127.0.0.1", String(proxy.port)]);
  while (!/state=online/.test(String(await ask(primary, ["INFO", "replication"])))) await sleep(50);
  return {
    server,
    proxy,
    primary,
    settings: { redis: primary.url },
    restart: () => {},
    revocations: () => revocationsOn([primary]),
    remove: async () => {
      await Promise.all([primary.remove(), server.remove()]);
    },
  };
}

/** NATS with a configuration file that can be changed. */
export async function natsPlace(): Promise<Place<NatsServer> & { configure(text: string): void }> {
  const folder = mkdtempSync(join(tmpdir(), "portico-nats-"));
  const file = join(folder, "nats.conf");
  writeFileSync(file, "");
  const server = await NatsServer.start(["-c", file]);
  const proxy = await TcpProxy.start(server.port);
  return {
    server,
    proxy,
    settings: { nats: proxy.through(server.url) },
    configure: (text) => {
      writeFileSync(file, text);
      server.reload();
    },
    restart: () => {},
    remove: async () => {
      await server.remove();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A connection to a Redis, a Sentinel or NATS that works. Rejects if the server closes it. */
export async function pingedConnection(port: number, hello = "PING\r\n"): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  const said = new Promise<void>((resolve, reject) => {
    socket.on("error", reject).on("close", () => reject(new Error("the connection was closed")));
    socket.on("data", (chunk) => {
      if (String(chunk).includes("PONG")) resolve();
    });
  });
  socket.write(hello);
  await said;
  return socket;
}

/** Several servers that break together. */
export interface Many<Servers> extends AnyServer {
  readonly all: Servers;
}

/** More than the application and the other Sentinels need. */
const SENTINEL_CLIENTS = 40;

/** Three Sentinels, each behind a proxy. */
export async function sentinelPlace(): Promise<Place<Many<RedisSentinelServers>>> {
  const all = await RedisSentinelServers.start(["--maxclients", String(SENTINEL_CLIENTS)]);
  const proxies = await Promise.all(all.sentinels.map(({ port }) => TcpProxy.start(port)));
  const { primary } = all.address as { readonly primary: string };
  const sentinels = all.sentinels.map(({ url }, n) => proxies[n]?.through(url) ?? url);
  return {
    server: together(all, all.sentinels),
    proxy: everyProxy(proxies),
    settings: { redis: { sentinels, primary } },
    restart: () => {},
    revocations: () => revocationsOn(all.servers, "app"),
    remove: async () => {
      for (const server of [...all.servers, ...all.sentinels]) server.thaw();
      await all.remove();
    },
  };
}

/** A cluster whose nodes announce the ports of proxies. One node is killed or frozen, and the network to all of them breaks. */
export async function clusterPlace(): Promise<Place<Many<RedisClusterServers>>> {
  const all = await RedisClusterServers.start();
  const proxies = await Promise.all(all.servers.map(({ port }) => TcpProxy.start(port)));
  const ports = proxies.map(({ port }) => port);
  for (const [n, server] of all.servers.entries())
    await ask(server, ["CONFIG", "SET", "cluster-announce-port", String(ports[n])]);
  const knowsAll = async (server: RedisServer): Promise<boolean> => {
    const nodes = String(await ask(server, ["CLUSTER", "NODES"]));
    return ports.every((port) => nodes.includes(`:${port}@`)) && !nodes.includes("fail");
  };
  while (!(await Promise.all(all.servers.map(knowsAll))).every(Boolean)) await sleep(50);
  const broken = all.servers[0] as RedisServer;
  return {
    server: together(all, [broken]),
    proxy: everyProxy(proxies),
    settings: { redis: { cluster: ports.slice(0, 2).map((port) => `redis://127.0.0.1:${port}`) } },
    restart: () => {},
    remove: async () => {
      for (const server of all.servers) server.thaw();
      await all.remove();
    },
  };
}

/** Kills every connection of clients to a Redis. */
export async function disconnectClients(server: RedisServer, password?: string): Promise<void> {
  await ask(server, ["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"], password);
  await ask(server, ["CLIENT", "KILL", "TYPE", "pubsub"], password);
}

function together<Servers>(all: Servers, broken: readonly RedisServer[]): Many<Servers> {
  return {
    all,
    kill: async () => {
      await Promise.all(broken.map((server) => server.kill()));
    },
    freeze: () => {
      for (const server of broken) server.freeze();
    },
    thaw: () => {
      for (const server of broken) server.thaw();
    },
  };
}

/** What happens to one of them happens to all. */
function everyProxy(proxies: readonly TcpProxy[]): Wire {
  const each = (act: (proxy: TcpProxy) => void): void => {
    for (const proxy of proxies) act(proxy);
  };
  return {
    shape: (line) => each((proxy) => proxy.shape(line)),
    silence: () => each((proxy) => proxy.silence()),
    reset: () => each((proxy) => proxy.reset()),
    refuse: () => each((proxy) => proxy.refuse()),
    endRefusal: () => each((proxy) => proxy.endRefusal()),
    garble: (to) => each((proxy) => proxy.garble(to)),
    close: async () => {
      await Promise.all(proxies.map((proxy) => proxy.close()));
    },
  };
}

async function revocationsOn(servers: readonly RedisServer[], password?: string): Promise<readonly number[]> {
  const keys = await Promise.all(
    servers
      .filter(({ isRunning }) => isRunning)
      .map(async (server) => (await ask(server, ["KEYS", "*revoked-*"], password)) as readonly string[]),
  );
  return keys.flat().map((key) => Number(/revoked-(\d+)/.exec(key)?.[1]));
}
