import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RedisServer } from "../../servers/redis-server.ts";
import type { Scene } from "../cell.ts";
import { NameServer } from "./name-server.ts";
import { disconnectClients } from "./store-places.ts";

/** Names the servers that a resolver asks. */
type PointTo = (address: string) => void;
type Breaks = (server: NameServer, pointTo: PointTo) => unknown;

const NAME = "redis.portico.test";

/** A Redis that the application knows by name. Its connections are closed after the fault, so the name is looked up again. */
export function withNames(breaks: Breaks): () => Promise<Scene> {
  return async () => {
    const [names, redis] = await Promise.all([NameServer.start(), RedisServer.start()]);
    const folder = mkdtempSync(join(tmpdir(), "portico-dns-"));
    const file = join(folder, "resolv.conf");
    const pointTo: PointTo = (address) => writeFileSync(file, `nameserver ${address}\n`);
    pointTo(names.address);
    return {
      settings: { redis: `redis://${NAME}:${redis.port}` },
      // Only this process sees the file in place of that of the machine.
      under: ["unshare", "-m", "sh", "-c", `mount --bind ${file} /etc/resolv.conf && exec "$@"`, "sh"],
      break: async () => {
        await breaks(names, pointTo);
        await disconnectClients(redis);
      },
      remove: async () => {
        await Promise.all([names.close().catch(() => {}), redis.remove()]);
        rmSync(folder, { recursive: true, force: true });
      },
    };
  };
}
