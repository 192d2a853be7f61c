import type { ConnectionOptions } from "@nats-io/transport-node";
import {
  objectWith,
  optional,
  positiveInteger,
  secondsUpTo,
  textLike,
  type WithFallback,
} from "../core/resolve-options.ts";

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

export const natsRules: {
  readonly prefix: WithFallback<string>;
  readonly timeoutSeconds: WithFallback<number>;
  readonly maxQueued: WithFallback<number>;
  readonly connection: WithFallback<NatsConnectionOptions>;
} = {
  prefix: optional(textLike("letters, digits, - and _", /^[\w-]+$/), "portico"),
  timeoutSeconds: optional(secondsUpTo(60), 2),
  maxQueued: optional(positiveInteger, 1_000),
  connection: optional(objectWith<NatsConnectionOptions>("authenticator", "user", "pass", "token", "tls"), {}),
};
