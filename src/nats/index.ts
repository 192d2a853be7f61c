export type { NatsConnectionOptions, NatsOptions } from "./nats-options.ts";
export { NatsPubSub } from "./nats-pub-sub.ts";
