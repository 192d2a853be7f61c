import { plainText } from "../../http/text/plain-text.ts";
import type { Credential } from "../../kernel/identity/credential.ts";
import { own } from "../tokens/token-header.ts";
import { VERSION_CLAIM } from "../tokens/version-claim.ts";

/** The claims of a token with a valid signature. Read them as own members. */
export type TokenClaims = Readonly<Record<string, unknown>>;

/** The rules that claims must meet. */
export interface ClaimRules {
  readonly identifier: string;
  readonly issuer: string | undefined;
  readonly audience: readonly string[] | undefined;
  readonly clockToleranceSeconds: number;
  readonly maxLifetimeSeconds: number;
  /** The claim with the permissions of the token, or a function that returns them; `undefined` if they are not limited. */
  readonly permissions: string | ((claims: TokenClaims) => readonly string[] | undefined) | undefined;
}

/** The parts of a verified token that are needed for every request. */
export interface VerifiedToken {
  /** `null` if the token is valid but has no identifier claim. */
  readonly identity: string | null;
  readonly claims: TokenClaims;
  readonly expiresAt: number;
  /** The credential for gates, sockets and revocations. */
  readonly credential: Credential;
}

const MAX_IDENTITY_LENGTH = 255;

/** Checks the claims. Returns `null` if one of them is not valid. Times are in seconds. */
export function judgeClaims(claims: TokenClaims, rules: ClaimRules, now: number): VerifiedToken | null {
  const expiresAt = own(claims, "exp");
  if (!Number.isSafeInteger(expiresAt) || (expiresAt as number) > now + rules.maxLifetimeSeconds) return null;
  if (isOver({ expiresAt: expiresAt as number }, rules, now)) return null;
  if (!isPast(own(claims, "nbf"), rules, now) || !isPast(own(claims, "iat"), rules, now)) return null;
  if (rules.issuer !== undefined && own(claims, "iss") !== rules.issuer) return null;
  if (!isFor(own(claims, "aud"), rules.audience)) return null;
  const subject = own(claims, "sub");
  if (subject !== undefined && identityOf(subject) === null) return null;
  const claim = own(claims, rules.identifier);
  const identity = identityOf(claim);
  if (claim !== undefined && identity === null) return null;
  const version = own(claims, VERSION_CLAIM);
  if (version !== undefined && !Number.isSafeInteger(version)) return null;
  const permissions = permissionsOf(claims, rules.permissions);
  const credential: Credential = {
    ...credentialOf(claims, expiresAt as number, version as number | undefined),
    claims,
    ...(permissions === undefined ? {} : { permissions }),
  };
  return { identity, claims, expiresAt: expiresAt as number, credential };
}

/** Uses the id of the session, if there is one, so that the token ends with it. */
function credentialOf(claims: TokenClaims, expiresAt: number, version: number | undefined): Credential {
  const [session, token] = [identityOf(own(claims, "sid")), identityOf(own(claims, "jti"))];
  const id = session === null ? token && `jwt:${token}` : `session:${session}`;
  return {
    ...(id === null ? {} : { id }),
    expiresAt: expiresAt * 1000,
    ...(version === undefined ? {} : { version }),
  };
}

/** Returns an empty list, which allows nothing, if the claim is missing or has another type. */
function permissionsOf(claims: TokenClaims, rule: ClaimRules["permissions"]): readonly string[] | undefined {
  if (rule === undefined) return undefined;
  const told: unknown = typeof rule === "function" ? rule(claims) : (own(claims, rule) ?? []);
  if (told === undefined) return undefined;
  const list: unknown = typeof told === "string" ? told.split(" ").filter((name) => name !== "") : told;
  return Array.isArray(list) && list.every((name) => typeof name === "string") ? [...list] : [];
}

export function isOver({ expiresAt }: Pick<VerifiedToken, "expiresAt">, rules: ClaimRules, now: number): boolean {
  return expiresAt + rules.clockToleranceSeconds <= now;
}

function isPast(time: unknown, { clockToleranceSeconds }: ClaimRules, now: number): boolean {
  return time === undefined || (typeof time === "number" && time >= 0 && time <= now + clockToleranceSeconds);
}

/** RFC 7519 section 4.1.3: a token with an audience is only for those who identify with it. */
function isFor(claim: unknown, audience: readonly string[] | undefined): boolean {
  if (audience === undefined) return claim === undefined;
  const list: readonly unknown[] = Array.isArray(claim) ? claim : [claim];
  return list.every((entry) => typeof entry === "string") && list.some((entry) => audience.includes(entry));
}

/** Returns a text that is safe to look up and log, or an integer as text. Returns `null` for anything else. */
function identityOf(claim: unknown): string | null {
  if (typeof claim === "number") return Number.isSafeInteger(claim) ? String(claim) : null;
  return typeof claim === "string" && claim.trim() !== "" ? plainText(claim, MAX_IDENTITY_LENGTH) : null;
}
