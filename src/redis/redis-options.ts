import {
  flag,
  type OptionRule,
  objectWith,
  optional,
  positiveInteger,
  secondsUpTo,
  textLike,
  type WithFallback,
} from "../core/resolve-options.ts";
import type { RedisTLS } from "./redis-client.ts";

/** Options of all stores on Redis. */
export interface RedisOptions {
  /**
   * The prefix of all keys and channels. Applications that share a Redis need different prefixes. @default "portico"
   */
  readonly prefix?: string;
  /**
   * How long a reply of Redis may take, in seconds. A later one fails the command, and the connection is replaced.
   * @default 2
   */
  readonly timeoutSeconds?: number;
  /**
   * For `rediss://`: the certificate authority (`ca`), a client certificate (`cert`, `key`) and the name in the server's
   * certificate (`servername`), as `tls.connect` of Node takes them. @default the authorities that Node trusts
   */
  readonly tls?: RedisTLS;
}

type RedisRules = {
  readonly prefix: WithFallback<string>;
  readonly timeoutSeconds: WithFallback<number>;
  readonly tls: OptionRule<RedisTLS>;
};

export const redisRules: RedisRules = {
  prefix: optional(textLike("a non-empty string without braces", /^[^{}]+$/), "portico"),
  timeoutSeconds: optional(secondsUpTo(60), 2),
  tls: objectWith<RedisTLS>("ca", "cert", "key", "servername"),
};
export const redisCounterRules: RedisRules & { readonly insurance: WithFallback<boolean> } = {
  ...redisRules,
  insurance: optional(flag, true),
};
export const redisPubSubRules: RedisRules & { readonly maxQueued: WithFallback<number> } = {
  ...redisRules,
  maxQueued: optional(positiveInteger, 1_000),
};
