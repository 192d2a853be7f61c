import { type Clock, systemClock } from "../../core/clock.ts";
import { ConfigurationError } from "../../core/configuration-error.ts";
import type { Secret } from "../../core/key-ring.ts";
import { callable, flag, optional, positiveInteger, resolveOptions, rule, text } from "../../core/options.ts";
import type { KeyValueStore } from "../../stores/key-value.ts";
import type { RefreshOwner } from "./refresh-families.ts";
import { secretRing } from "./secret-ring.ts";

/** How tokens are made. */
export interface TokenOptions {
  /** At least 32 bytes; of several the first signs, and refresh tokens of all of them are taken. */
  readonly secret: Secret | readonly Secret[];
  /** `iss` of the access token. */
  readonly issuer?: string;
  /** `aud` of the access token: give it wherever several services share a secret. */
  readonly audience?: string;
  /** `sid` of the access token: the session that it belongs to. */
  readonly sid?: string;
  /** Seconds that an access token lives. @default 600 */
  readonly accessLifetime?: number;
  /** Where families of refresh tokens live; without one there are none. */
  readonly refreshStore?: KeyValueStore;
  /** Seconds after which a refresh token that is not used is over. @default 1_209_600, 14 days */
  readonly refreshIdle?: number;
  /** Seconds after which a family is over, however much it is used. @default 2_592_000, 30 days */
  readonly refreshLifetime?: number;
  /** Whether a refresh token that comes again kills its family at once, also after an answer that was lost. @default false */
  readonly strictRefresh?: boolean;
  /** Told once of a family that was killed because somebody has a copy of its tokens. */
  readonly onReuse?: (owner: RefreshOwner) => void;
  /** @default the clock of the system */
  readonly clock?: Clock;
}

const store = rule<KeyValueStore>(
  "a KeyValueStore",
  (value) => typeof (value as KeyValueStore | null)?.compareAndSet === "function",
);
const clock = rule<Clock>(
  "a clock with now() and monotonic()",
  (value) => typeof (value as Clock | null)?.now === "function",
);

const rules = {
  // What was meant to be there must not vanish with an empty environment variable.
  issuer: { ...text, strict: true as const },
  audience: { ...text, strict: true as const },
  sid: text,
  accessLifetime: optional(positiveInteger, 600),
  refreshStore: { ...store, strict: true as const },
  refreshIdle: optional(positiveInteger, 1_209_600),
  refreshLifetime: optional(positiveInteger, 2_592_000),
  strictRefresh: optional(flag, false),
  onReuse: optional(callable, () => {}),
  clock: optional(clock, systemClock),
};

/** The options, complete. */
export interface ResolvedTokenOptions {
  readonly secret: readonly Uint8Array[];
  readonly issuer: string | undefined;
  readonly audience: string | undefined;
  readonly sid: string | undefined;
  readonly accessLifetime: number;
  readonly refreshStore: KeyValueStore | undefined;
  readonly refreshIdle: number;
  readonly refreshLifetime: number;
  readonly strictRefresh: boolean;
  readonly onReuse: (owner: RefreshOwner) => void;
  readonly clock: Clock;
}

export function resolveTokenOptions(owner: string, options: TokenOptions): ResolvedTokenOptions {
  const read = resolveOptions(owner, options, { ...rules, secret: secretRing(`${owner}.secret`) });
  const { secret } = read;
  if (secret === undefined) throw new ConfigurationError(`${owner}.secret`, "is missing");
  return { ...read, secret };
}
