import { createHash } from "node:crypto";
import { isReply } from "./redis-client.ts";
import type { RedisLink } from "./redis-link.ts";

/** A Lua script that Redis runs atomically. Its text is sent once per server, then only its hash. */
export class RedisScript {
  readonly #text: string;
  readonly #hash: string;

  constructor(text: string) {
    this.#text = text;
    this.#hash = createHash("sha1").update(text).digest("hex");
  }

  run(link: RedisLink, key: string, args: readonly string[]): Promise<unknown> {
    return link.run(key, async (client) => {
      try {
        return await client.sendCommand(["EVALSHA", this.#hash, "1", key, ...args]);
      } catch (error) {
        if (!isReply(error) || !error.message.startsWith("NOSCRIPT")) throw error;
        return client.sendCommand(["EVAL", this.#text, "1", key, ...args]);
      }
    });
  }
}
