import { type Clock, clockRule } from "../../core/clock.ts";
import {
  type Complete,
  type OptionRule,
  optional,
  optionRule,
  positiveInteger,
  REFUSED,
  resolveOptions,
  seconds,
  strict,
  textList,
  withMethod,
} from "../../core/resolve-options.ts";
import { type PlainText, plainText } from "../../http/text/plain-text.ts";
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
  store: strict(keyValueStore),
  bus: withMethod<PubSub>("a PubSub", "publish"),
  clock: clockRule,
  maxPerUser: optional(positiveInteger, 100),
};

const YEAR_SECONDS = 31_536_000;
const lifetime: OptionRule<number | "never"> = optionRule(
  'a whole number of seconds from 1 to 3,153,600,000 (100 years), or "never"',
  (value) =>
    value === "never" || (Number.isInteger(value) && (value as number) > 0 && (value as number) <= 100 * YEAR_SECONDS),
);

/** The longest name of a key. */
export const MAX_NAME_LENGTH = 200;
const keyNameRule: OptionRule<PlainText> = {
  expected: `a string of at most ${MAX_NAME_LENGTH} characters without control characters`,
  read: (value) => (typeof value === "string" ? (plainText(value, MAX_NAME_LENGTH) ?? REFUSED) : REFUSED),
};

const createRules = {
  name: optional(keyNameRule, "" as PlainText),
  // Strict: an unset variable must not turn a restricted key into an unrestricted one.
  permissions: strict(textList("a list of permissions")),
  expiresInSeconds: strict(optional(lifetime, YEAR_SECONDS)),
  perMinute: strict(positiveInteger),
};

const renewRules = { expiresInSeconds: lifetime, overlapSeconds: optional(seconds, 0) };

/** Resolves the options. Missing ones are taken from the application. */
export function resolveKeysOptions(options: APIKeysOptions): Complete<APIKeysOptions, "store" | "bus" | "clock"> {
  return resolveOptions("APIKeys", options, keysRules);
}

export function resolveNewKey(
  options: NewAPIKey,
): Complete<NewAPIKey, "permissions" | "perMinute"> & { readonly name: PlainText } {
  return resolveOptions("APIKeys.create", options, createRules);
}

export function resolveRenewal(options: RenewAPIKey): Complete<RenewAPIKey, "expiresInSeconds"> {
  return resolveOptions("APIKeys.renew", options, renewRules);
}
