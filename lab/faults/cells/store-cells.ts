import { setTimeout as sleep } from "node:timers/promises";
import { ask } from "../../servers/redis-cluster-servers.ts";
import type { Cell, Scene, Seen } from "../cell.ts";
import { type AnyServer, type Place, sceneOf, tcpCells } from "../scenes/behind-proxy.ts";
import { keepTaking } from "../scenes/keep-taking.ts";
import {
  clusterPlace,
  disconnectClients,
  natsPlace,
  pingedConnection,
  redisPlace,
  redisReplicaPlace,
  sentinelPlace,
} from "../scenes/store-places.ts";

/** A process starts within one or two seconds, and then waits for its stores for 5 s. */
const LATE_MS = 4_000;

const nothing: Seen = {};
const noRedis: Seen = {
  probes: { session: 503, store: 503, revoke: 503, publish: 503 },
  ready: 503,
  checks: ["bus", "durable", "writes"],
  log: "redis: connection lost (durable)",
  doctor: "failed stores",
};
const noWrites: Seen = {
  probes: { store: 503, revoke: 503 },
  ready: 503,
  checks: ["durable", "writes"],
  doctor: "failed stores",
};
const noNats: Seen = {
  probes: { publish: 503 },
  ready: 503,
  checks: ["bus"],
  log: "nats: connection lost (bus)",
  doctor: "failed stores",
};
const noReplica: Seen = {
  probes: { revoke: 503 },
  log: "no replica has confirmed the write",
  metrics: ['portico_unavailable_responses_total{reason="STORE_UNAVAILABLE"}'],
  blind: "`doctor` can't know that there was a replica",
};
/** The application stays connected to the primary, and a new process would find none. */
const noSentinel: Seen = { doctor: "failed stores" };
const failedOver: Seen = { log: "redis: reconnected (durable)" };
/** Another server of the cluster takes over. */
const lostOne: Seen = { log: "redis: connection lost (durable)" };

export const storeCells: readonly Cell[] = [
  ...tcpCells("Redis", redisPlace, {
    gone: noRedis,
    frozen: noRedis,
    slow: nothing,
    partitioned: noRedis,
    flapping: { log: "redis: reconnected (durable)" },
    "answering wrongly": noRedis,
  }),
  {
    resource: "Redis",
    fault: "full",
    sees: { ...noWrites, log: "Redis is out of memory" },
    start: sceneOf(redisPlace, ({ server }) => ask(server, ["CONFIG", "SET", "maxmemory", "1"])),
  },
  {
    resource: "Redis",
    fault: "refusing",
    sees: noRedis,
    start: sceneOf(redisPlace, async ({ server }) => {
      await ask(server, ["CONFIG", "SET", "requirepass", "secret"]);
      await disconnectClients(server, "secret");
    }),
  },
  {
    resource: "Redis",
    fault: "answering wrongly",
    how: "read-only, as a demoted primary",
    sees: { ...noWrites, log: "redis: connection lost (durable)" },
    start: sceneOf(redisPlace, ({ server }) => ask(server, ["REPLICAOF", "127.0.0.1", "1"])),
  },
  {
    resource: "Redis",
    fault: "gone",
    how: "until some seconds after startup has begun",
    sees: nothing,
    start: async () => {
      const place = await redisPlace();
      await place.server.kill();
      return healedLate(place, () => place.server.start());
    },
  },

  ...tcpCells("Redis replica", redisReplicaPlace, {
    gone: noReplica,
    frozen: noReplica,
    slow: nothing,
    partitioned: noReplica,
    flapping: nothing,
    refusing: noReplica,
    "answering wrongly": noReplica,
  }),
  {
    resource: "Redis replica",
    fault: "full",
    sees: nothing,
    start: sceneOf(redisReplicaPlace, ({ server }) => ask(server, ["CONFIG", "SET", "maxmemory", "1"])),
  },

  ...tcpCells("Redis Sentinel", sentinelPlace, {
    gone: noSentinel,
    frozen: noSentinel,
    slow: nothing,
    flapping: nothing,
    refusing: noSentinel,
    "answering wrongly": noSentinel,
  }),
  {
    resource: "Redis Sentinel",
    fault: "full",
    sees: noSentinel,
    start: sceneOf(sentinelPlace, async ({ server: { all }, proxy }) => {
      const full = all.sentinels.map(({ port }) =>
        keepTaking(
          () => pingedConnection(port),
          async (socket) => socket.destroy(),
          () => proxy.reset(),
        ),
      );
      const ends = await Promise.all(full);
      return () => Promise.all(ends.map((end) => end()));
    }),
  },
  {
    resource: "Redis Sentinel",
    fault: "gone",
    how: "their primary",
    sees: failedOver,
    start: sceneOf(sentinelPlace, ({ server: { all } }) => all.servers[0]?.kill()),
  },
  {
    resource: "Redis Sentinel",
    fault: "frozen",
    how: "their primary",
    sees: failedOver,
    start: sceneOf(sentinelPlace, ({ server: { all } }) => {
      all.servers[0]?.freeze();
      return async () => all.servers[0]?.thaw();
    }),
  },
  {
    resource: "Redis Sentinel",
    fault: "partitioned",
    sees: failedOver,
    start: sceneOf(sentinelPlace, async ({ server: { all } }) => {
      await all.partition();
      while (!(await all.hasFailedOver())) await sleep(50);
    }),
  },

  ...tcpCells("Redis Cluster", clusterPlace, {
    gone: lostOne,
    frozen: lostOne,
    slow: nothing,
    partitioned: noRedis,
    flapping: nothing,
    refusing: noRedis,
    "answering wrongly": noRedis,
  }),
  {
    resource: "Redis Cluster",
    fault: "full",
    sees: { ...noWrites, log: "Redis is out of memory" },
    start: sceneOf(clusterPlace, async ({ server: { all } }) => {
      for (const server of all.servers) await ask(server, ["CONFIG", "SET", "maxmemory", "1"]);
    }),
  },
  {
    resource: "Redis Cluster",
    fault: "gone",
    how: "one primary, whose failover ends during startup",
    sees: nothing,
    start: async () => {
      const place = await clusterPlace();
      const [, , , replica, ...others] = place.server.all.servers;
      // The replica waits for the command, so that the failover is not over before the process looks for its servers.
      for (const server of [replica, ...others])
        await ask(server, ["CONFIG", "SET", "cluster-replica-no-failover", "yes"]);
      await place.server.kill();
      return healedLate(place, () => ask(replica, ["CLUSTER", "FAILOVER", "TAKEOVER"]));
    },
  },
  {
    resource: "Redis Cluster",
    fault: "flapping",
    how: "slots that move to another primary",
    sees: { isUnnoticed: true },
    start: sceneOf(clusterPlace, async ({ server: { all } }) => {
      for (const key of await all.keys()) await all.move(key);
    }),
  },

  ...tcpCells("NATS", natsPlace, {
    gone: noNats,
    frozen: noNats,
    slow: nothing,
    partitioned: noNats,
    flapping: { log: "nats: reconnected (bus)" },
    "answering wrongly": noNats,
  }),
  {
    resource: "NATS",
    fault: "full",
    sees: noNats,
    start: async () => {
      const place = await natsPlace();
      return sceneOf(
        async () => place,
        ({ server, proxy }) => {
          place.configure("max_connections: 5");
          return keepTaking(
            () => pingedConnection(server.port, 'CONNECT {"verbose":false}\r\nPING\r\n'),
            async (socket) => socket.destroy(),
            () => proxy.reset(),
          );
        },
      )();
    },
  },
  {
    resource: "NATS",
    fault: "refusing",
    sees: noNats,
    start: async () => {
      const place = await natsPlace();
      return sceneOf(
        async () => place,
        () => place.configure('authorization { token: "another" }'),
      )();
    },
  },
];

/** A scene whose fault is there from the beginning, and ends some seconds later. */
async function healedLate<Server extends AnyServer>(
  place: Place<Server>,
  heal: () => Promise<unknown>,
): Promise<Scene> {
  const healed = sleep(LATE_MS).then(heal);
  const remove = async (): Promise<void> => {
    await healed;
    await place.remove();
  };
  return sceneOf(
    async () => ({ ...place, remove }),
    () => healed,
  )();
}
