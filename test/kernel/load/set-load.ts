import { type EventLoopUtilization, monitorEventLoopDelay, performance } from "node:perf_hooks";
import { PorticoApp, type PorticoAppOptions } from "portico";
import { type LiveClient, liveClient, testClient } from "portico/testing";
import { expect, onTestFinished, vi } from "vitest";
import { HostTime } from "../../../src/kernel/load/host-time.ts";
import type { Load } from "../../../src/kernel/load/load.ts";
import { rawConnection } from "../../http/raw-connection.ts";

/** A server whose time passes, and whose event loop is busy, as a test says. */
export interface SetLoad {
  readonly app: PorticoApp;
  readonly client: LiveClient;
  /** The share of the time in which the event loop is busy. */
  readonly isBusyFor: (share: number) => void;
  /** The share of the time that the host gives to others. */
  readonly hostTakes: (share: number) => void;
  /** Makes more requests arrive than end, with an event loop that is busy for longer than half a second. */
  readonly overload: () => Promise<void>;
  /** How many requests were rejected, or would have been. */
  readonly rejections: () => Promise<Load["rejections"]>;
  /** How late timers fire on average. */
  readonly isLateBy: (ms: number) => void;
  readonly pass: (ms: number) => void;
  /** Lets the time pass until the load is measured again. */
  readonly measure: (times?: number) => void;
  /** Keeps this many more requests in flight, until the test has ended. */
  readonly hold: (count: number) => void;
  /** A request whose queries wait this long for a connection to the database. */
  readonly query: (...waits: readonly number[]) => Promise<void>;
  /** The status of one more request. */
  readonly status: (headers?: Readonly<Record<string, string>>) => Promise<number>;
  /** Requests that are read in one round of the event loop, each with the milliseconds that it works. Returns their statuses. */
  readonly together: (work: readonly number[], headers?: string) => Promise<readonly number[]>;
}

/** @param load `null` for an application without the option */
export async function setLoad(load: PorticoAppOptions["load"] | null = {}): Promise<SetLoad> {
  let now = 1_000;
  let utilization = 0;
  let delayMs = 0;
  let taken = 0;
  let sampled = now;
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  vi.spyOn(performance, "now").mockImplementation(() => now);
  vi.spyOn(performance, "eventLoopUtilization").mockImplementation(
    (): EventLoopUtilization => ({ idle: 0, active: 0, utilization }),
  );
  vi.spyOn(HostTime.prototype, "takenMs").mockImplementation(() => {
    const lasted = now - sampled;
    sampled = now;
    return lasted * taken;
  });
  const histogram = Object.getPrototypeOf(Object.getPrototypeOf(monitorEventLoopDelay())) as { readonly mean: number };
  // A timer that is on time is recorded with the resolution of 10 ms.
  vi.spyOn(histogram, "mean", "get").mockImplementation(() => (delayMs + 10) * 1e6);

  let slow = 0;
  const release = Promise.withResolvers<void>();
  const held: Promise<unknown>[] = [];
  const app = new PorticoApp({
    logger: false,
    ...(load === null ? {} : { load: { maxInFlight: 100, maxWaitMs: 100, ...load } }),
  })
    .get("/slow", () => {
      slow++;
      return release.promise;
    })
    .get("/quick", () => "done")
    .get("/query", ({ ctx, query }) => {
      for (const ms of String(query["waits"]).split(" ")) ctx.services.load.waited(Number(ms));
    })
    .get("/rejections", ({ ctx }) => ctx.services.load.rejections)
    .get("/busy/:ms", ({ path }) => {
      now += Number(path.ms);
      return "worked";
    });
  const client = await liveClient(app);
  onTestFinished(async () => {
    release.resolve();
    vi.restoreAllMocks();
    vi.useRealTimers();
    await Promise.all(held);
    await client.close();
  });

  const measure = (times = 1): void => {
    for (let count = 0; count < times; count++) {
      now += 100;
      vi.advanceTimersByTime(100);
    }
  };
  const hold = (count: number): void => {
    const { get } = testClient(app);
    held.push(...Array.from({ length: count }, () => get("/slow")));
  };
  return {
    app,
    client,
    isBusyFor(share) {
      utilization = share;
    },
    isLateBy(ms) {
      delayMs = ms;
    },
    pass(ms) {
      now += ms;
    },
    hostTakes(share) {
      taken = share;
    },
    measure,
    hold,
    async overload() {
      utilization = 0.96;
      measure(5);
      hold(513);
      await vi.waitUntil(() => slow === 513, 60_000);
      measure();
    },
    rejections: async () => (await client.get("/rejections")).json() as Load["rejections"],
    async query(...waits) {
      const { status } = await testClient(app).get("/query", { query: { waits: waits.join(" ") } });
      expect(status).toBe(204);
    },
    status: async (headers = {}) => (await client.get("/quick", { headers })).status,
    async together(work, headers = "") {
      const connections = await Promise.all(work.map(() => rawConnection(client.port)));
      // Only connections that the server has accepted are read in one round.
      for (const { socket } of connections) socket.write("GET /livez HTTP/1.1\r\nHost: a\r\n\r\n");
      await Promise.all(connections.map((connection) => connection.until("alive")));
      for (const [index, { socket }] of connections.entries())
        socket.write(`GET /busy/${work[index]} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${headers}\r\n`);
      await Promise.all(connections.map(({ closed }) => closed));
      return connections.map(({ received }) => Number(/alive.*HTTP\/1\.1 (\d+)/s.exec(received())?.[1]));
    },
  };
}
