import type { ConnectionOptions } from "@nats-io/transport-node";
import { type OptionRule, optional, optionRule, positiveInteger, thing } from "../core/resolve-options.ts";

/** How a connection to NATS authenticates and encrypts. */
export type NatsConnectionOptions = Pick<ConnectionOptions, "authenticator" | "user" | "pass" | "token" | "tls">;

/** Options of the bus on NATS. */
export interface NatsOptions {
  /** The first part of all subjects. Applications that share an account need different prefixes. @default "portico" */
  readonly prefix?: string;
  /**
   * How long a reply of NATS may take, in seconds. A later one fails the call, and the connection is replaced. @default 2
   */
  readonly timeoutSeconds?: number;
  /** How many events may wait for one subscriber. One more ends its subscription with `PubSubGap`. @default 1_000 */
  readonly maxQueued?: number;
  /** Credentials and TLS, as `connect` of `@nats-io/transport-node` takes them. @default those in the URL */
  readonly connection?: NatsConnectionOptions;
}

type WithFallback<T> = OptionRule<T> & { readonly fallback: T };
const CONNECTION = ["authenticator", "user", "pass", "token", "tls"];

export const natsRules: {
  readonly prefix: WithFallback<string>;
  readonly timeoutSeconds: WithFallback<number>;
  readonly maxQueued: WithFallback<number>;
  readonly connection: WithFallback<NatsConnectionOptions>;
} = {
  prefix: optional(
    optionRule<string>("letters, digits, - and _", (value) => typeof value === "string" && /^[\w-]+$/.test(value)),
    "portico",
  ),
  timeoutSeconds: optional(
    optionRule<number>(
      "a number of seconds above 0, up to 60",
      (value) => typeof value === "number" && value > 0 && value <= 60,
    ),
    2,
  ),
  maxQueued: optional(positiveInteger, 1_000),
  connection: optional(
    thing<NatsConnectionOptions>(
      "an object with authenticator, user, pass, token or tls",
      (value) =>
        typeof value === "object" && value !== null && Object.keys(value).every((key) => CONNECTION.includes(key)),
    ),
    {},
  ),
};
