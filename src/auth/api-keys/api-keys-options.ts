import type { Clock } from "../../core/clock.ts";
import {
  listOf,
  optional,
  positiveInteger,
  type Rule,
  resolveOptions,
  rule,
  seconds,
  thing,
} from "../../core/resolve-options.ts";
import { type KeyValueStore, keyValueStore } from "../../stores/key-value-store.ts";
import type { PubSub } from "../../stores/pub-sub.ts";

/** Where API keys are kept. */
export interface APIKeysOptions {
  /** @default the durable store of the application that the request is for */
  readonly store?: KeyValueStore;
  /** Where revocations are told, so that open sockets are closed. @default the bus of that application */
  readonly bus?: PubSub;
  /** @default the clock of that application */
  readonly clock?: Clock;
  /** Keys that a user may have. @default 100 */
  readonly maxPerUser?: number;
}

/** What a new key is like. */
export interface NewAPIKey {
  /** What it is for, for its owner's eyes. @default "" */
  readonly name?: string;
  /** What it may do at most; of its owner's permissions only these count. @default all that its owner may do */
  readonly permissions?: readonly string[];
  /** Seconds until it is over; `never` for one that stays until it is revoked. @default 31_536_000, 365 days */
  readonly expiresInSeconds?: number | "never";
  /** How often it may be used; more is answered 429. @default the backend's `perMinute` */
  readonly perMinute?: number;
}

/** How a key is renewed. */
export interface RenewAPIKey {
  /** Seconds until it is over, from now. @default what it had */
  readonly expiresInSeconds?: number | "never";
  /** Seconds for which the old text still counts, so that it can be exchanged everywhere. @default 0 */
  readonly overlapSeconds?: number;
}

const keysRules = {
  // What was meant to be there must not vanish with a variable that is not set.
  store: { ...keyValueStore, strict: true as const },
  bus: thing<PubSub>("a PubSub", (value) => typeof (value as Partial<PubSub> | null)?.publish === "function"),
  clock: rule<Clock>(
    "a clock with now() and monotonic()",
    (value) => typeof (value as Clock | null)?.now === "function",
  ),
  maxPerUser: optional(positiveInteger, 100),
};

const YEAR_SECONDS = 31_536_000;
const lifetime: Rule<number | "never"> = rule(
  'a whole number of seconds from 1 to 3,153,600,000 (100 years), or "never"',
  (value) =>
    value === "never" || (Number.isInteger(value) && (value as number) > 0 && (value as number) <= 100 * YEAR_SECONDS),
);

const createRules = {
  name: optional(
    rule<string>("a string of at most 200 characters", (value) => typeof value === "string" && value.length <= 200),
    "",
  ),
  // A key that was meant to be narrow must not become a wide one.
  permissions: {
    ...listOf<string>("a list of permissions", (entry) => typeof entry === "string" && entry !== ""),
    strict: true as const,
  },
  expiresInSeconds: { ...optional(lifetime, YEAR_SECONDS), strict: true as const },
  perMinute: { ...positiveInteger, strict: true as const },
};

const renewRules = { expiresInSeconds: lifetime, overlapSeconds: optional(seconds, 0) };

/** The options, complete. What is not there comes from the application. */
export function resolveKeysOptions(options: APIKeysOptions): {
  readonly store: KeyValueStore | undefined;
  readonly bus: PubSub | undefined;
  readonly clock: Clock | undefined;
  readonly maxPerUser: number;
} {
  return resolveOptions("APIKeys", options, keysRules);
}

export function resolveNewKey(options: NewAPIKey): {
  readonly name: string;
  readonly permissions: readonly string[] | undefined;
  readonly expiresInSeconds: number | "never";
  readonly perMinute: number | undefined;
} {
  return resolveOptions("APIKeys.create", options, createRules);
}

export function resolveRenewal(options: RenewAPIKey): {
  readonly expiresInSeconds: number | "never" | undefined;
  readonly overlapSeconds: number;
} {
  return resolveOptions("APIKeys.renew", options, renewRules);
}
