import type { Clock } from "../../core/clock.ts";
import {
  listOf,
  type OptionRule,
  optional,
  optionRule,
  positiveInteger,
  resolveOptions,
  seconds,
  thing,
} from "../../core/resolve-options.ts";
import { type KeyValueStore, keyValueStore } from "../../stores/key-value-store.ts";
import type { PubSub } from "../../stores/pub-sub.ts";

/** The options of `APIKeys`. */
export interface APIKeysOptions {
  /** @default the durable store of the application that handles the request */
  readonly store?: KeyValueStore;
  /** The bus for revocations, which close open sockets. @default the bus of that application */
  readonly bus?: PubSub;
  /** @default the clock of that application */
  readonly clock?: Clock;
  /** The maximum number of keys per user. @default 100 */
  readonly maxPerUser?: number;
}

/** The options of `APIKeys.create`. */
export interface NewAPIKey {
  /** A name that tells its owner what the key is for. @default "" */
  readonly name?: string;
  /** The permissions of its owner to which the key is restricted. @default all permissions of its owner */
  readonly permissions?: readonly string[];
  /** Seconds until it expires, or `"never"`. @default 31_536_000, 365 days */
  readonly expiresInSeconds?: number | "never";
  /** The number of uses per minute. More are rejected with 429. @default the backend's `perMinute` */
  readonly perMinute?: number;
}

/** The options of `APIKeys.renew`. */
export interface RenewAPIKey {
  /** Seconds until it expires, from now. @default its previous lifetime */
  readonly expiresInSeconds?: number | "never";
  /** Seconds for which the old secret stays valid, so that you can replace it everywhere. @default 0 */
  readonly overlapSeconds?: number;
}

const keysRules = {
  // Strict: an unset variable must not silently select another store.
  store: { ...keyValueStore, strict: true as const },
  bus: thing<PubSub>("a PubSub", (value) => typeof (value as Partial<PubSub> | null)?.publish === "function"),
  clock: optionRule<Clock>(
    "a clock with now() and monotonic()",
    (value) => typeof (value as Clock | null)?.now === "function",
  ),
  maxPerUser: optional(positiveInteger, 100),
};

const YEAR_SECONDS = 31_536_000;
const lifetime: OptionRule<number | "never"> = optionRule(
  'a whole number of seconds from 1 to 3,153,600,000 (100 years), or "never"',
  (value) =>
    value === "never" || (Number.isInteger(value) && (value as number) > 0 && (value as number) <= 100 * YEAR_SECONDS),
);

const createRules = {
  name: optional(
    optionRule<string>(
      "a string of at most 200 characters",
      (value) => typeof value === "string" && value.length <= 200,
    ),
    "",
  ),
  // Strict: an unset variable must not turn a restricted key into an unrestricted one.
  permissions: {
    ...listOf<string>("a list of permissions", (entry) => typeof entry === "string" && entry !== ""),
    strict: true as const,
  },
  expiresInSeconds: { ...optional(lifetime, YEAR_SECONDS), strict: true as const },
  perMinute: { ...positiveInteger, strict: true as const },
};

const renewRules = { expiresInSeconds: lifetime, overlapSeconds: optional(seconds, 0) };

/** Resolves the options. Missing ones are taken from the application. */
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
