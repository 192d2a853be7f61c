import { setTimeout as sleep } from "node:timers/promises";
import { RedisPubSub } from "../../../src/redis/index.ts";
import type { AppProcess } from "../app-process.ts";
import type { Scene } from "../cell.ts";
import { ordered, PREFIX } from "../fault-app.ts";
import { lost } from "../lost.ts";
import { sceneOf } from "./behind-proxy.ts";
import { shopPlace } from "./sql-places.ts";
import { redisPlace } from "./store-places.ts";

const BUYERS = 8;
const MOMENT_MS = 20;
/** Other numbers than those of the writes of the traffic. */
const FIRST_ORDER = 1_000_000;

/**
 * Buyers place orders until the process ends. Each acknowledged order must be in the database, and its event must have arrived.
 * An order without an acknowledgement may be without an event, but no event may be without an order.
 */
export function withOrders(breaks: (silenceBus: () => void, app: AppProcess) => Promise<void>): () => Promise<Scene> {
  return async () => {
    const [shop, redis] = await Promise.all([shopPlace(), redisPlace()]);
    const bus = new RedisPubSub(redis.server.url, { prefix: PREFIX });
    const [acknowledged, heard]: [number[], Set<number>] = [[], new Set()];
    const place = {
      ...shop,
      settings: { ...shop.settings, ...redis.settings },
      losses: async () => {
        const rows = (await shop.rows?.()) ?? [];
        return [
          ...lost("orders", acknowledged, rows),
          ...lost("events", acknowledged, [...heard]),
          ...lost("orders whose events arrived", [...heard].filter(isOrder), rows),
          ...(acknowledged.length === 0 ? ["no order was acknowledged"] : []),
        ];
      },
      remove: async () => {
        await Promise.all([bus.close(), redis.proxy.close()]);
        await Promise.all([shop.remove(), redis.remove()]);
      },
    };
    return sceneOf(
      async () => place,
      async (_reached, app) => {
        void listen(bus, heard);
        // Until the subscription has begun.
        while (heard.size === 0) {
          await bus.publish(ordered, 0);
          await sleep(MOMENT_MS);
        }
        const buyers = Array.from({ length: BUYERS }, (_, n) => buy(app, FIRST_ORDER * (n + 1), acknowledged));
        await breaks(() => redis.proxy.silence(), app);
        await Promise.all(buyers);
      },
    )();
  };
}

async function listen(bus: RedisPubSub, heard: Set<number>): Promise<void> {
  for await (const id of bus.subscribe(ordered)) heard.add(id);
}

/** Places orders until the process ends. */
async function buy(app: AppProcess, first: number, acknowledged: number[]): Promise<void> {
  for (let id = first; app.isListening; id++) {
    const { status } = await app.request(`/order/${id}`, { method: "POST" });
    if (status >= 200 && status < 300) acknowledged.push(id);
  }
}

const isOrder = (id: number): boolean => id >= FIRST_ORDER;
