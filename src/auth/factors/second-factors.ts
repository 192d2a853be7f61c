import type { Secret } from "../../core/key-ring.ts";
import type { KeyValueStore } from "../../stores/key-value-store.ts";
import { discard } from "../../stores/revoke.ts";
import type { SecretAttempt } from "../limits/secret-attempt.ts";
import { sha256 } from "../records/sha256.ts";
import { type FactorMethod, type FactorRecord, methodsOf, withoutUnusedCodes } from "./factor-record.ts";
import { FactorStore } from "./factor-store.ts";
import { indexOfHash, newRecoveryCodes, recoveryHash } from "./new-recovery-codes.ts";
import { type NewTotp, newTotp, stepOf, TOTP_DIGITS } from "./new-totp.ts";
import { readCode } from "./read-code.ts";
import { SealedText } from "./sealed-text.ts";

/** How long a new secret waits for its first code. */
const ENROLMENT_MS = 600_000;

/** A code as the user typed it, and the time in milliseconds. */
interface TypedCode {
  readonly code: string;
  readonly now: number;
}

/** The second factors of users: codes of an authenticator app, and recovery codes. */
export class SecondFactors {
  readonly #keys: SealedText;
  readonly #hasPasskeys: boolean;

  /**
   * @param secrets the first encrypts the stored secrets, and all of them decrypt
   * @param hasPasskeys whether the application accepts passkeys
   */
  constructor(secrets: readonly Secret[], hasPasskeys: boolean) {
    this.#keys = new SealedText(secrets, "second factor");
    this.#hasPasskeys = hasPasskeys;
  }

  get(store: KeyValueStore, user: string): Promise<FactorRecord> {
    return new FactorStore(store).get(user);
  }

  async methods(store: KeyValueStore, user: string): Promise<readonly FactorMethod[]> {
    const record = await this.get(store, user);
    return methodsOf(this.#hasPasskeys ? record : { ...record, passkeys: [] });
  }

  /** Makes a secret for the user's authenticator app. It is used from the first code that `confirmTotp` accepts. */
  async enrolTotp(store: KeyValueStore, user: string, issuer: string, label: string): Promise<NewTotp> {
    const made = await newTotp(issuer, label);
    await store.set(enrolmentKey(user), this.#keys.seal(made.secret, enrolmentKey(user)), ENROLMENT_MS);
    return made;
  }

  /**
   * Activates the new secret if this is its code, and returns the user's recovery codes. Returns `null` if the code is
   * wrong, the enrolment has expired or the user has an authenticator app already.
   */
  async confirmTotp(
    attempt: SecretAttempt,
    store: KeyValueStore,
    user: string,
    { code, now }: TypedCode,
  ): Promise<readonly string[] | null> {
    const sealed = await store.get(enrolmentKey(user));
    const secret = sealed === null ? null : this.#keys.open(sealed, enrolmentKey(user));
    attempt.compares();
    const lastStep = await stepOf(readCode(code, TOTP_DIGITS), secret, now);
    if (lastStep === null || secret === null || !(await discard(store, enrolmentKey(user)))) return null;
    const codes = newRecoveryCodes();
    const totp = { secret: this.#keys.seal(secret, user), createdAt: now, lastStep };
    const isNew = await new FactorStore(store).change(user, (record) =>
      record.totp === undefined ? { ...record, totp, recovery: codes.map(recoveryHash) } : null,
    );
    return isNew ? codes : null;
  }

  /** Removes the authenticator app, and the recovery codes with the last factor. Returns whether there was one. */
  removeTotp(store: KeyValueStore, user: string): Promise<boolean> {
    return new FactorStore(store).remove(user, ({ totp, ...others }) =>
      totp === undefined ? null : withoutUnusedCodes(others),
    );
  }

  /** Replaces the recovery codes. Returns `null` if the user has no second factor. */
  async renewRecoveryCodes(store: KeyValueStore, user: string): Promise<readonly string[] | null> {
    const codes = newRecoveryCodes();
    const isDone = await new FactorStore(store).remove(user, (record) =>
      methodsOf(record).length === 0 ? null : { ...record, recovery: codes.map(recoveryHash) },
    );
    return isDone ? codes : null;
  }

  /**
   * Accepts a code of the authenticator app or a recovery code, each only once, also between processes. Returns which
   * of them it was, or `null`. The work is the same for every user and reason.
   */
  async verify(
    attempt: SecretAttempt,
    store: KeyValueStore,
    user: string,
    { code, now }: TypedCode,
  ): Promise<FactorMethod | null> {
    const factors = new FactorStore(store);
    const { totp } = await factors.get(user);
    const secret = totp === undefined ? null : this.#keys.open(totp.secret, user);
    attempt.compares();
    const step = await stepOf(readCode(code, TOTP_DIGITS), secret, now);
    const hash = recoveryHash(code);
    let method: FactorMethod | null = null;
    const isAccepted = await factors.change(user, (record) => {
      const place = indexOfHash(hash, record.recovery);
      const isSame = record.totp !== undefined && record.totp.createdAt === totp?.createdAt;
      if (isSame && secret !== null && step !== null && step > record.totp.lastStep) {
        method = "totp";
        // Encrypted again, so that secrets move to the newest key.
        return { ...record, totp: { ...record.totp, secret: this.#keys.seal(secret, user), lastStep: step } };
      }
      if (place === -1 || methodsOf(record).length === 0) return null;
      method = "recovery";
      return { ...record, recovery: record.recovery.toSpliced(place, 1) };
    });
    return isAccepted ? method : null;
  }
}

function enrolmentKey(user: string): string {
  return `totp-enrolment:${sha256(user)}`;
}
