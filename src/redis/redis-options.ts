import { flag, type OptionRule, optional, optionRule, positiveInteger, thing } from "../core/resolve-options.ts";
import type { RedisTls } from "./redis-client.ts";

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
  readonly tls?: RedisTls;
}

const prefix: OptionRule<string> = optionRule(
  "a non-empty string without braces",
  (value) => typeof value === "string" && /^[^{}]+$/.test(value),
);
const timeout: OptionRule<number> = optionRule(
  "a number of seconds above 0, up to 60",
  (value) => typeof value === "number" && value > 0 && value <= 60,
);

type WithFallback<T> = OptionRule<T> & { readonly fallback: T };
type RedisRules = {
  readonly prefix: WithFallback<string>;
  readonly timeoutSeconds: WithFallback<number>;
  readonly tls: OptionRule<RedisTls>;
};

const TLS = ["ca", "cert", "key", "servername"];
const tls: OptionRule<RedisTls> = thing(
  "an object with ca, cert, key or servername",
  (value) => typeof value === "object" && value !== null && Object.keys(value).every((key) => TLS.includes(key)),
);

export const redisRules: RedisRules = {
  prefix: optional(prefix, "portico"),
  timeoutSeconds: optional(timeout, 2),
  tls,
};
export const redisCounterRules: RedisRules & { readonly insurance: WithFallback<boolean> } = {
  ...redisRules,
  insurance: optional(flag, true),
};
export const redisPubSubRules: RedisRules & { readonly maxQueued: WithFallback<number> } = {
  ...redisRules,
  maxQueued: optional(positiveInteger, 1_000),
};
