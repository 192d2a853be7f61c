import { randomBytes } from "node:crypto";
import type * as Argon2 from "@node-rs/argon2";
import { optionalPackage } from "../../../core/packages/optional-package.ts";
import type { PasswordScheme, StoredHash } from "./password-scheme.ts";

/** The cost of an argon2 hash. */
export interface Argon2Cost {
  readonly memoryKiB: number;
  readonly passes: number;
}

/** The scheme of new hashes. */
export interface Argon2Scheme extends PasswordScheme {
  hash(password: Uint8Array): Promise<string>;
}

const SALT_BYTES = 16;
const TAG_BYTES = 32;

/** The limits of a stored hash: 256 MiB, 16 passes, 16 lanes, and a total of 1 GiB processed. */
const MAX_KIB = 262_144;
const MAX_PASSES = 16;
const MAX_LANES = 16;
const MAX_WORK_KIB = 1_048_576;

/** The PHC format, with the prefix that Django adds. Without `v` it is the version before 19. */
const FORM =
  /^(argon2)?\$argon2(id|i|d)(?:\$v=(16|19))?\$m=(\d{1,10}),t=(\d{1,10}),p=(\d{1,3})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{16,171})$/;

/**
 * Hashes with argon2id at this cost. Also verifies argon2i and argon2d up to the cost limits, and their Django format.
 */
export function argon2Scheme(cost: Argon2Cost): Argon2Scheme {
  const argon2 = optionalPackage<typeof Argon2>("PasswordHasher", "@node-rs/argon2");
  const stored = (text: string, isCurrent: boolean): StoredHash => ({
    isCurrent,
    verify: (password) => argon2.verify(text, password),
  });
  return {
    name: "argon2",
    // The library uses argon2id by default.
    hash: (password) =>
      argon2.hash(password, {
        memoryCost: cost.memoryKiB,
        timeCost: cost.passes,
        parallelism: 1,
        outputLen: TAG_BYTES,
      }),
    dummy: stored(dummyOf(cost), true),
    read(text) {
      const parts = FORM.exec(text);
      if (parts === null) return null;
      const [memoryKiB, passes, lanes] = parts.slice(4, 7).map(Number) as [number, number, number];
      if (memoryKiB > MAX_KIB || passes > MAX_PASSES || lanes > MAX_LANES || memoryKiB * passes > MAX_WORK_KIB)
        return null;
      const [, django, variant, version] = parts;
      const isCurrent =
        django === undefined &&
        variant === "id" &&
        version === "19" &&
        memoryKiB >= cost.memoryKiB &&
        passes >= cost.passes &&
        bytesOf(parts[7]) >= SALT_BYTES &&
        bytesOf(parts[8]) >= TAG_BYTES;
      return stored(text.slice(django?.length ?? 0), isCurrent);
    },
  };
}

function dummyOf({ memoryKiB, passes }: Argon2Cost): string {
  const [salt, tag] = [SALT_BYTES, TAG_BYTES].map((size) => randomBytes(size).toString("base64").replaceAll("=", ""));
  return `$argon2id$v=19$m=${memoryKiB},t=${passes},p=1$${salt}$${tag}`;
}

function bytesOf(base64: string | undefined): number {
  return Math.floor(((base64?.length ?? 0) * 3) / 4);
}
