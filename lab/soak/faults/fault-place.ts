import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type OwnPostgres, ownPostgres } from "../../servers/own-postgres.ts";
import { RedisServer } from "../../servers/redis-server.ts";
import { SmallDisk } from "../../servers/small-disk.ts";
import { TcpProxy } from "../../servers/tcp-proxy.ts";
import type { Place } from "../place.ts";

export interface FaultPlace extends Place {
  readonly postgres: OwnPostgres;
  readonly redis: RedisServer;
  /** The disk of the tables; `null` where none may be mounted. */
  readonly disk: SmallDisk | null;
  /** Between them and the server process. */
  readonly proxies: { readonly redis: TcpProxy; readonly postgres: TcpProxy };
}

/**
 * A PostgreSQL and a Redis on ports of their own, which only this run uses and breaks. With `isProxied`, the server
 * process reaches them through the proxies, which accept connections even while the server behind them is down.
 */
export async function makeFaultPlace(isProxied: boolean): Promise<FaultPlace> {
  const folder = mkdtempSync(join(tmpdir(), "portico-soak-"));
  const directory = join(folder, "uploads");
  mkdirSync(directory);
  const postgres = await ownPostgres(["-c", "max_connections=50"]);
  const disk = await SmallDisk.under(postgres.url);
  // Sessions have to survive a killed Redis. It writes before it replies, and only a crash of the machine would need an fsync.
  const redis = await RedisServer.start(["--appendonly", "yes", "--appendfsync", "no"]);
  const proxies = {
    redis: await TcpProxy.start(redis.port),
    postgres: await TcpProxy.start(Number(new URL(postgres.url).port)),
  };
  const database = isProxied ? proxies.postgres.through(postgres.url) : postgres.url;
  const url = isProxied ? proxies.redis.through(redis.url) : redis.url;
  return {
    settings: { database, redis: { url, prefix: "soak" }, directory },
    postgres,
    redis,
    disk,
    proxies,
    async clear() {
      // A frozen server does not end.
      postgres.thaw();
      redis.thaw();
      await proxies.postgres.close();
      await proxies.redis.close();
      await postgres.remove();
      await redis.remove();
      disk?.remove();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
