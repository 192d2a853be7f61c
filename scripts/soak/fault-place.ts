import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RedisServer } from "../../test/redis/redis-server.ts";
import { type OwnPostgres, ownPostgres } from "../../test/sql/accounts/own-postgres.ts";
import type { Place } from "./place.ts";

export interface FaultPlace extends Place {
  readonly postgres: OwnPostgres;
  readonly redis: RedisServer;
}

/** A PostgreSQL and a Redis on ports of their own, which only this run uses and breaks. */
export async function makeFaultPlace(): Promise<FaultPlace> {
  const folder = mkdtempSync(join(tmpdir(), "portico-soak-"));
  const directory = join(folder, "uploads");
  mkdirSync(directory);
  const postgres = await ownPostgres();
  // Sessions have to survive a killed Redis. It writes before it replies, and only a crash of the machine would need an fsync.
  const redis = await RedisServer.start(["--appendonly", "yes", "--appendfsync", "no"]);
  return {
    settings: { database: postgres.url, redis: { url: redis.url, prefix: "soak" }, directory },
    postgres,
    redis,
    async clear() {
      // A frozen server does not end.
      postgres.thaw();
      redis.thaw();
      await postgres.remove();
      await redis.remove();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
