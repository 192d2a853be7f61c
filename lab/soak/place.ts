import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { forgetKeys } from "../servers/forget-keys.ts";
import { ownSchema } from "../servers/own-schema.ts";
import type { SoakSettings } from "./soak-settings.ts";

export interface Place {
  readonly settings: Omit<SoakSettings, "leak" | "faults">;
  /** Takes away what the run has left outside of its processes. */
  clear(): Promise<void>;
}

/** Where a run keeps its things: a directory, a schema and a prefix of its own. */
export async function makePlace(isOnPostgres: boolean, isOnRedis: boolean): Promise<Place> {
  const name = `soak_${randomBytes(6).toString("hex")}`;
  const folder = mkdtempSync(join(tmpdir(), "portico-soak-"));
  const directory = join(folder, "uploads");
  mkdirSync(directory);
  const redis = process.env["REDIS_URL"] ?? "redis://127.0.0.1:6379";
  const schema = isOnPostgres ? await ownSchema(name) : null;
  return {
    settings: {
      database: schema?.url ?? `sqlite:${join(folder, "soak.db")}`,
      redis: isOnRedis ? { url: redis, prefix: name } : null,
      directory,
    },
    async clear() {
      rmSync(folder, { recursive: true, force: true });
      await schema?.drop();
      if (isOnRedis) await forgetKeys(redis, name);
    },
  };
}
