import type { Credential } from "../../http/identity/credential.ts";
import { VERSION_CLAIM } from "../tokens/version-claim.ts";
import { own } from "./token-header.ts";

/** The claims of a token whose signature was right, as they were signed. Read them as own members. */
export type TokenClaims = Readonly<Record<string, unknown>>;

/** What claims are held against. */
export interface ClaimRules {
  readonly identifier: string;
  readonly issuer: string | undefined;
  readonly audience: readonly string[] | undefined;
  readonly clockTolerance: number;
  readonly maxLifetime: number;
}

/** What of a token is judged again each time it comes, and whom it names. */
export interface VerifiedToken {
  /** `null`: the token is right and has no such claim. */
  readonly identity: string | null;
  readonly claims: TokenClaims;
  readonly expiresAt: number;
  /** What a gate, a socket and a revocation know it by. */
  readonly credential: Credential;
}

const LONGEST_IDENTITY = 255;

/** The token that these claims make; `null` when one of them is not what it must be. Times are in seconds. */
export function judgeClaims(claims: TokenClaims, rules: ClaimRules, now: number): VerifiedToken | null {
  const expiresAt = own(claims, "exp");
  if (!Number.isSafeInteger(expiresAt) || (expiresAt as number) > now + rules.maxLifetime) return null;
  if (isOver({ expiresAt: expiresAt as number }, rules, now)) return null;
  if (!isPast(own(claims, "nbf"), rules, now) || !isPast(own(claims, "iat"), rules, now)) return null;
  if (rules.issuer !== undefined && own(claims, "iss") !== rules.issuer) return null;
  if (rules.audience !== undefined && !isFor(own(claims, "aud"), rules.audience)) return null;
  const subject = own(claims, "sub");
  if (subject !== undefined && identityOf(subject) === null) return null;
  const claim = own(claims, rules.identifier);
  const identity = identityOf(claim);
  if (claim !== undefined && identity === null) return null;
  const version = own(claims, VERSION_CLAIM);
  if (version !== undefined && !Number.isSafeInteger(version)) return null;
  const credential = credentialOf(claims, expiresAt as number, version as number | undefined);
  return { identity, claims, expiresAt: expiresAt as number, credential };
}

/** Where it belongs to a session, it ends with that: it has the session's name. */
function credentialOf(claims: TokenClaims, expiresAt: number, version: number | undefined): Credential {
  const [session, token] = [identityOf(own(claims, "sid")), identityOf(own(claims, "jti"))];
  const id = session === null ? token && `jwt:${token}` : `session:${session}`;
  return {
    ...(id === null ? {} : { id }),
    expiresAt: expiresAt * 1000,
    ...(version === undefined ? {} : { version }),
  };
}

export function isOver({ expiresAt }: Pick<VerifiedToken, "expiresAt">, rules: ClaimRules, now: number): boolean {
  return expiresAt + rules.clockTolerance <= now;
}

function isPast(time: unknown, { clockTolerance }: ClaimRules, now: number): boolean {
  return time === undefined || (typeof time === "number" && time >= 0 && time <= now + clockTolerance);
}

function isFor(claim: unknown, audience: readonly string[]): boolean {
  const list: readonly unknown[] = Array.isArray(claim) ? claim : [claim];
  return list.every((entry) => typeof entry === "string") && list.some((entry) => audience.includes(entry));
}

/** Text that can be looked up and logged, or a whole number as text; `null` for anything else. */
function identityOf(claim: unknown): string | null {
  if (typeof claim === "number") return Number.isSafeInteger(claim) ? String(claim) : null;
  if (typeof claim !== "string" || claim.trim() === "" || claim.length > LONGEST_IDENTITY) return null;
  return claim.isWellFormed() && !/\p{Cc}/u.test(claim) ? claim : null;
}
