import { setTimeout as sleep } from "node:timers/promises";
import type { Cell, Seen } from "../cell.ts";
import { alone } from "../scenes/alone.ts";
import { behindBalancer, idleConnections } from "../scenes/behind-balancer.ts";
import { withNames } from "../scenes/dns-place.ts";

const TIMES = 8;
const TURN_MS = 300;
const DELAY_MS = 50;
const MAX_CONNECTIONS = 40;
/** An address that no machine has. */
const NOWHERE = "192.0.2.1";

const nothing: Seen = {};
const noNames: Seen = {
  probes: { session: 503, store: 503, revoke: 503, publish: 503 },
  ready: 503,
  checks: ["bus", "durable", "writes"],
  log: "redis: connection lost (durable)",
  doctor: "failed stores",
};
/** Clients get no response, and the process notices nothing. */
const noClients: Seen = {
  probes: { read: 0, write: 0, session: 0, store: 0, revoke: 0, publish: 0 },
  blind: "the process receives no requests",
};
const badRequests: Seen = {
  probes: { read: 400, write: 400, session: 400, store: 400, revoke: 400, publish: 400 },
  blind: "the requests are not HTTP",
};

export const networkCells: readonly Cell[] = [
  { resource: "DNS", fault: "gone", sees: noNames, start: withNames((names) => names.close()) },
  {
    resource: "DNS",
    fault: "gone",
    how: "at startup",
    sees: {
      startError: "cannot start the durable role: no connection to Redis at portico.invalid",
      doctor: "failed stores",
    },
    start: alone(() => {}, { settings: { redis: "redis://portico.invalid:6379" } }),
  },
  {
    resource: "DNS",
    fault: "frozen",
    sees: { ...noNames, isForced: true },
    start: withNames((names) => void (names.mode = "silent")),
  },
  { resource: "DNS", fault: "slow", sees: nothing, start: withNames((names) => void (names.mode = "late")) },
  {
    resource: "DNS",
    fault: "full",
    impossible: "a name server with too many requests refuses them, is slow or does not respond, which are other cells",
  },
  {
    resource: "DNS",
    fault: "partitioned",
    sees: { ...noNames, isForced: true },
    start: withNames((_names, pointTo) => pointTo(NOWHERE)),
  },
  {
    resource: "DNS",
    fault: "flapping",
    sees: nothing,
    start: withNames(async (names) => {
      let count = 0;
      const turn = setInterval(() => {
        names.mode = count % 2 === 0 ? "refused" : "right";
        if (++count === TIMES) clearInterval(turn);
      }, TURN_MS);
    }),
  },
  { resource: "DNS", fault: "refusing", sees: noNames, start: withNames((names) => void (names.mode = "refused")) },
  {
    resource: "DNS",
    fault: "answering wrongly",
    sees: noNames,
    start: withNames((names) => void (names.mode = "wrong")),
  },

  { resource: "load balancer", fault: "gone", sees: noClients, start: behindBalancer((balancer) => balancer.close()) },
  {
    resource: "load balancer",
    fault: "frozen",
    sees: noClients,
    start: behindBalancer((balancer) => balancer.freeze()),
  },
  {
    resource: "load balancer",
    fault: "slow",
    sees: nothing,
    start: behindBalancer((balancer) => balancer.shape({ delayMs: DELAY_MS })),
  },
  {
    resource: "load balancer",
    fault: "full",
    sees: noClients,
    start: behindBalancer(async (balancer) => {
      await idleConnections(balancer.port, MAX_CONNECTIONS);
      balancer.limit(1);
    }),
  },
  {
    resource: "load balancer",
    fault: "partitioned",
    sees: noClients,
    start: behindBalancer((balancer) => balancer.silence()),
  },
  {
    resource: "load balancer",
    fault: "flapping",
    sees: nothing,
    start: behindBalancer(async (balancer) => {
      for (let count = 0; count < TIMES; count++) {
        balancer.reset();
        await sleep(TURN_MS);
      }
    }),
  },
  {
    resource: "load balancer",
    fault: "refusing",
    sees: noClients,
    start: behindBalancer((balancer) => balancer.refuse()),
  },
  {
    resource: "load balancer",
    fault: "answering wrongly",
    sees: badRequests,
    start: behindBalancer((balancer) => balancer.garble("server")),
  },
];
