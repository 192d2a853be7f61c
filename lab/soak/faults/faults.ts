import { setTimeout as sleep } from "node:timers/promises";
import type { Line, TcpProxy } from "../../servers/tcp-proxy.ts";
import type { ServerProcess } from "../server-process.ts";
import { exhaustConnections, exhaustDisk, exhaustMemory } from "./exhaust.ts";
import type { FaultPlace } from "./fault-place.ts";
import type { FaultKind } from "./fault-windows.ts";

/** Something that breaks and is repaired again. */
export interface Fault {
  readonly kind: FaultKind;
  readonly name: string;
  /** @default always */
  readonly isPossible?: (place: FaultPlace) => boolean;
  run(place: FaultPlace, server: ServerProcess): Promise<void>;
}

const HOUR_MS = 3_600_000;
const DOWN_MS = 1_000;
/** Longer than the deadlines of the application, so that they are reached. */
const FROZEN_MS = 2_800;
const SHIFTED_MS = 1_000;
const SLOW_MS = 2_000;
const SHAPED_MS = 2_000;
/** Each way. A transaction has several round trips. */
const DELAY_MS = 80;
const BYTES_PER_SECOND = 4_000;
const CUTS = 3;
const CUT_MS = 300;
/** Shorter than the patience of a client. */
const PAUSE_MS = 2_500;

export const faults: readonly Fault[] = [
  { kind: "redis", name: "kill Redis", run: ({ redis }) => restart(redis) },
  { kind: "postgres", name: "freeze PostgreSQL", run: ({ postgres }) => freeze(postgres) },
  { kind: "process", name: "kill the process", run: (_place, server) => server.restart(DOWN_MS) },
  { kind: "clock", name: "clock a day ahead", run: (_place, server) => shift(server, 24 * HOUR_MS) },
  { kind: "slow", name: "slow clients", run: () => sleep(SLOW_MS) },
  { kind: "redis", name: "freeze Redis", run: ({ redis }) => freeze(redis) },
  { kind: "postgres", name: "restart PostgreSQL", run: ({ postgres }) => restart(postgres) },
  { kind: "clock", name: "clock an hour behind", run: (_place, server) => shift(server, -HOUR_MS) },
  { kind: "pause", name: "pause the process", run: (_place, server) => pause(server) },
  { kind: "full", name: "take all connections of PostgreSQL", run: ({ postgres }) => exhaustConnections(postgres.url) },
  { kind: "full", name: "fill the memory of Redis", run: ({ redis }) => exhaustMemory(redis.url) },
  {
    kind: "full",
    name: "fill the disk of PostgreSQL",
    isPossible: ({ disk }) => disk !== null,
    run: async ({ disk }) => {
      if (disk !== null) await exhaustDisk(disk);
    },
  },
  ...overNetwork("delay", "delay", (proxy) => shape(proxy, { delayMs: DELAY_MS })),
  ...overNetwork("throttle", "throttle", (proxy) => shape(proxy, { bytesPerSecond: BYTES_PER_SECOND })),
  ...overNetwork("silence", "silence", silence),
  ...overNetwork("half-close", "half-close the connections to", (proxy) => cut(() => proxy.halfClose())),
  ...overNetwork("reset", "reset the connections to", (proxy) => cut(() => proxy.reset())),
];

function overNetwork(kind: FaultKind, verb: string, run: (proxy: TcpProxy) => Promise<void>): readonly Fault[] {
  return [
    { kind, name: `${verb} Redis`, run: ({ proxies }) => run(proxies.redis) },
    { kind, name: `${verb} PostgreSQL`, run: ({ proxies }) => run(proxies.postgres) },
  ];
}

async function shape(proxy: TcpProxy, line: Line): Promise<void> {
  proxy.shape(line);
  await sleep(SHAPED_MS);
  proxy.shape({});
}

async function silence(proxy: TcpProxy): Promise<void> {
  proxy.silence();
  await sleep(FROZEN_MS);
  proxy.endSilence();
}

async function cut(connections: () => void): Promise<void> {
  for (let n = 0; n < CUTS; n++) {
    connections();
    await sleep(CUT_MS);
  }
}

async function pause(server: ServerProcess): Promise<void> {
  server.pause();
  await sleep(PAUSE_MS);
  server.resume();
}

async function restart(server: { kill(): Promise<void>; start(): Promise<void> }): Promise<void> {
  await server.kill();
  await sleep(DOWN_MS);
  await server.start();
}

async function freeze(server: { freeze(): void; thaw(): void }): Promise<void> {
  server.freeze();
  await sleep(FROZEN_MS);
  server.thaw();
}

async function shift(server: ServerProcess, byMs: number): Promise<void> {
  await server.order({ clockMs: byMs });
  await sleep(SHIFTED_MS);
  await server.order({ clockMs: 0 });
}
