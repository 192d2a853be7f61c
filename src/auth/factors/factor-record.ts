import type { PlainText } from "../../http/text/plain-text.ts";

/** The second factors of a user, as they are stored: one entry, so that each change is one write. */
export interface FactorRecord {
  readonly totp?: TotpFactor;
  readonly passkeys?: readonly PasskeyFactor[];
  /** The hashes of the unused recovery codes. */
  readonly recovery: readonly string[];
}

export interface TotpFactor {
  /** Encrypted. */
  readonly secret: string;
  readonly createdAt: number;
  /** The time step of the last accepted code. Each step is accepted once. */
  readonly lastStep: number;
}

export interface PasskeyFactor {
  /** The id of the WebAuthn credential. */
  readonly id: string;
  /** In base64url. */
  readonly publicKey: string;
  /** How often the authenticator was used, as it reports; 0 if it has no counter. */
  readonly counter: number;
  readonly transports?: readonly string[];
  readonly name: PlainText;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
  /** Whether the authenticator can copy it to other devices. */
  readonly isSyncable: boolean;
  /** Whether such a copy exists. */
  readonly isBackedUp: boolean;
}

export const NO_FACTORS: FactorRecord = Object.freeze({ recovery: [] });

/** A way to prove a second factor. */
export type FactorMethod = "totp" | "passkey" | "recovery";

/** Lists the ways in which the user can prove a second factor. It is empty if the user has none. */
export function methodsOf({ totp, passkeys = [], recovery }: FactorRecord): readonly FactorMethod[] {
  const methods: FactorMethod[] = [];
  if (totp !== undefined) methods.push("totp");
  if (passkeys.length > 0) methods.push("passkey");
  if (methods.length > 0 && recovery.length > 0) methods.push("recovery");
  return methods;
}

/** Recovery codes stand in for other factors, so they go with the last of them. */
export function withoutUnusedCodes(record: FactorRecord): FactorRecord {
  return methodsOf(record).length === 0 ? { ...record, recovery: [] } : record;
}
