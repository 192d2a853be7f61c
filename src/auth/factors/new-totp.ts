import type { Secret } from "otpauth";
import type { TypedCode } from "./read-code.ts";

const PERIOD_MS = 30_000;
export const TOTP_DIGITS = 6;
/** RFC 4226 recommends a secret of 160 bits. */
const SECRET_BYTES = 20;
const NO_CODE = "0".repeat(TOTP_DIGITS);

/** A new secret for an authenticator app, and the two forms in which the app takes it. */
export interface NewTotp {
  /** In Base32. */
  readonly secret: string;
  readonly uri: string;
  /** The URI as a QR code, in SVG. */
  readonly qr: string;
}

/** Makes a secret for time-based codes of six digits, as all authenticator apps compute them (RFC 6238, SHA-1). */
export async function newTotp(issuer: string, label: string): Promise<NewTotp> {
  const [{ TOTP, Secret }, { renderSVG }] = await Promise.all([import("otpauth"), import("uqr")]);
  const totp = new TOTP({ issuer, label, secret: new Secret({ size: SECRET_BYTES }) });
  const uri = totp.toString();
  return { secret: totp.secret.base32, uri, qr: renderSVG(uri, { border: 4 }) };
}

/** Returns the time step whose code this is: the current one, the one before or the next. Returns `null` for others. */
export async function stepOf(code: TypedCode | null, secret: string | null, now: number): Promise<number | null> {
  const { TOTP, Secret } = await import("otpauth");
  const key: Secret = secret === null ? new Secret({ size: SECRET_BYTES }) : Secret.fromBase32(secret);
  // Without a secret the codes are computed as well, so that the time does not reveal whether there is one.
  const delta = TOTP.validate({ token: code ?? NO_CODE, secret: key, timestamp: now, window: 1 });
  return delta === null || code === null || secret === null ? null : Math.floor(now / PERIOD_MS) + delta;
}
