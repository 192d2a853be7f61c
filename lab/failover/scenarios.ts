import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { type OwnPostgres, ownPostgres } from "../servers/own-postgres.ts";
import { RedisClusterServers, RedisSentinelServers } from "../servers/redis-cluster-servers.ts";
import { RedisServer } from "../servers/redis-server.ts";
import { TcpProxy } from "../servers/tcp-proxy.ts";
import type { Scenario } from "./scenario.ts";

const SPLIT_MS = 10_000;
/** Room for four processes with a pool each. */
const POSTGRES = ["-c", "max_connections=100"];

/** What the processes go through, one after the other. */
export const scenarios: readonly Scenario[] = [
  {
    name: "Primary of a Redis Cluster shard killed",
    async start() {
      const [postgres, redis] = [await ownPostgres(POSTGRES), await RedisClusterServers.start()];
      return {
        place: () => ({ database: postgres.url, redis: redis.address }),
        fail: async () => redis.servers[0]?.kill(),
        remove: async () => void (await Promise.all([postgres.remove(), redis.remove()])),
      };
    },
  },
  {
    name: "Redis primary behind Sentinel killed",
    async start() {
      const [postgres, redis] = [await ownPostgres(POSTGRES), await RedisSentinelServers.start()];
      return {
        place: () => ({ database: postgres.url, redis: redis.address }),
        fail: async () => redis.servers[0]?.kill(),
        remove: async () => void (await Promise.all([postgres.remove(), redis.remove()])),
      };
    },
  },
  {
    name: "Redis primary behind Sentinel cut off from its replica and the Sentinels",
    async start() {
      const [postgres, redis] = [await ownPostgres(POSTGRES), await RedisSentinelServers.start()];
      return {
        place: () => ({ database: postgres.url, redis: redis.address }),
        async fail() {
          await redis.partition();
          while (!(await redis.hasFailedOver())) await sleep(50);
          await redis.heal();
        },
        remove: async () => void (await Promise.all([postgres.remove(), redis.remove()])),
      };
    },
  },
  {
    name: "PostgreSQL primary killed, synchronous standby promoted",
    async start() {
      const primary = await ownPostgres(POSTGRES);
      const standby = await ownPostgres(POSTGRES, primary);
      await synchronous(primary);
      // The address moves to the standby, as with a proxy or a virtual address.
      const proxy = await TcpProxy.start(portOf(primary));
      return {
        place: () => ({ database: proxy.through(primary.url), redis: null }),
        async fail() {
          await primary.kill();
          await onServer(standby, "select pg_promote()");
          proxy.redirect(portOf(standby));
        },
        async remove() {
          await proxy.close();
          await Promise.all([primary.remove(), standby.remove()]);
        },
      };
    },
  },
  {
    name: "Two of four processes cut off from Redis for 10 s",
    async start() {
      const [postgres, redis] = [await ownPostgres(POSTGRES), await RedisServer.start()];
      const proxy = await TcpProxy.start(redis.port);
      return {
        place: (process) => ({ database: postgres.url, redis: process < 2 ? redis.url : proxy.through(redis.url) }),
        async fail() {
          proxy.silence();
          await sleep(SPLIT_MS);
          proxy.endSilence();
        },
        async remove() {
          await proxy.close();
          await Promise.all([postgres.remove(), redis.remove()]);
        },
      };
    },
  },
  {
    name: "Process killed and started again",
    async start() {
      const [postgres, redis] = [await ownPostgres(POSTGRES), await RedisServer.start()];
      return {
        place: () => ({ database: postgres.url, redis: redis.url }),
        fail: (fleet) => fleet.replace(0),
        remove: async () => void (await Promise.all([postgres.remove(), redis.remove()])),
      };
    },
  },
];

/** From now on, a commit waits until the standby has it. */
async function synchronous(primary: OwnPostgres): Promise<void> {
  await onServer(primary, "alter system set synchronous_standby_names = '*'");
  await onServer(primary, "select pg_reload_conf()");
}

async function onServer({ url }: OwnPostgres, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

function portOf({ url }: OwnPostgres): number {
  return Number(new URL(url).port);
}
