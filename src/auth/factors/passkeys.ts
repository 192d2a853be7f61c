import { createHash } from "node:crypto";
import type * as WebAuthn from "@simplewebauthn/server";
import { optionalPackage } from "../../core/packages/optional-package.ts";
import type { PlainText } from "../../http/text/plain-text.ts";
import type { KeyValueStore } from "../../stores/key-value-store.ts";
import { discard } from "../../stores/revoke.ts";
import type { SecretAttempt } from "../limits/secret-attempt.ts";
import { sha256 } from "../records/sha256.ts";
import { type FactorRecord, type PasskeyFactor, withoutUnusedCodes } from "./factor-record.ts";
import { FactorStore } from "./factor-store.ts";
import { issueChallenge, redeemChallenge } from "./issue-challenge.ts";
import { newRecoveryCodes, recoveryHash } from "./new-recovery-codes.ts";
import { type ResolvedPasskeyOptions, WEBAUTHN } from "./passkey-options.ts";

/** A call of this server: its store and domain, and the browser or session that a challenge is bound to. */
export interface PasskeyCall {
  readonly store: KeyValueStore;
  readonly rpId: string;
  readonly origins: readonly string[];
  readonly bound: string;
}

/** A user who registers a passkey. */
export interface PasskeyUser {
  readonly identity: string;
  readonly email: string;
  readonly displayName: string;
}

/** A registered passkey, with the recovery codes if it is the user's first second factor. */
export interface NewPasskey {
  readonly passkey: PasskeyFactor;
  readonly recovery: readonly string[] | null;
}

const MAX_PASSKEYS = 20;

/**
 * Passkeys of users: WebAuthn credentials, which are always used with user verification. Such a passkey is two factors
 * at once: the device, and the PIN or fingerprint that unlocks it.
 */
export class Passkeys {
  readonly #web: typeof WebAuthn;
  readonly #options: ResolvedPasskeyOptions;

  constructor(options: ResolvedPasskeyOptions) {
    this.#options = options;
    this.#web = optionalPackage<typeof WebAuthn>("passkeys", WEBAUTHN);
  }

  get options(): ResolvedPasskeyOptions {
    return this.#options;
  }

  /** The options for `navigator.credentials.create()`. */
  async registrationOptions({ store, rpId, bound }: PasskeyCall, user: PasskeyUser): Promise<object> {
    const { passkeys = [] } = await new FactorStore(store).get(user.identity);
    return this.#web.generateRegistrationOptions({
      rpName: this.#options.rpName,
      rpID: rpId,
      userName: user.email,
      userDisplayName: user.displayName,
      userID: new Uint8Array(handleOf(user.identity)),
      challenge: await issueChallenge(store, { kind: "register", bound }),
      timeout: 300_000,
      excludeCredentials: passkeys.map(descriptorOf),
      authenticatorSelection: { residentKey: "required", userVerification: "required" },
    });
  }

  /** Stores the passkey that a browser created. Returns `null` if it cannot be verified or is known already. */
  async register(
    { store, rpId, origins, bound }: PasskeyCall,
    user: PasskeyUser,
    credential: object,
    { name, now }: { readonly name: PlainText; readonly now: number },
  ): Promise<NewPasskey | null> {
    const response = credential as WebAuthn.RegistrationResponseJSON;
    const clientData = response.response?.clientDataJSON;
    const expectedChallenge = await redeemChallenge(store, clientData, { kind: "register", bound });
    if (expectedChallenge === null) return null;
    const verified = await settled(() =>
      this.#web.verifyRegistrationResponse({
        response,
        expectedChallenge,
        expectedOrigin: [...origins],
        expectedRPID: rpId,
        requireUserVerification: true,
      }),
    );
    if (verified?.verified !== true) return null;
    const { credential: made, credentialDeviceType, credentialBackedUp } = verified.registrationInfo;
    const passkey: PasskeyFactor = {
      id: made.id,
      publicKey: Buffer.from(made.publicKey).toString("base64url"),
      counter: made.counter,
      ...(made.transports === undefined ? {} : { transports: made.transports }),
      name,
      createdAt: now,
      lastUsedAt: null,
      isSyncable: credentialDeviceType === "multiDevice",
      isBackedUp: credentialBackedUp,
    };
    return this.#add(store, user.identity, passkey);
  }

  async #add(store: KeyValueStore, user: string, passkey: PasskeyFactor): Promise<NewPasskey | null> {
    if (!(await store.setIfAbsent(ownerKey(passkey.id), user))) return null;
    const codes = newRecoveryCodes();
    let isFirst = false;
    const isAdded = await new FactorStore(store).change(user, ({ passkeys = [], ...others }) => {
      if (passkeys.length >= MAX_PASSKEYS) return null;
      isFirst = others.totp === undefined && passkeys.length === 0;
      const recovery = isFirst ? codes.map(recoveryHash) : others.recovery;
      return { ...others, recovery, passkeys: [...passkeys, passkey] };
    });
    if (isAdded) return { passkey, recovery: isFirst ? codes : null };
    await discard(store, ownerKey(passkey.id));
    return null;
  }

  /** Removes one of the user's passkeys, and the recovery codes with the last factor. Returns whether there was one. */
  async remove(store: KeyValueStore, user: string, id: string): Promise<boolean> {
    const isRemoved = await new FactorStore(store).remove(user, ({ passkeys = [], ...others }) => {
      const left = passkeys.filter((passkey) => passkey.id !== id);
      return left.length === passkeys.length ? null : withoutUnusedCodes({ ...others, passkeys: left });
    });
    if (isRemoved) await discard(store, ownerKey(id));
    return isRemoved;
  }

  /** Renames one of the user's passkeys. Returns whether there was one. */
  rename(store: KeyValueStore, user: string, id: string, name: PlainText): Promise<boolean> {
    return new FactorStore(store).change(user, ({ passkeys = [], ...others }) => {
      if (!passkeys.some((passkey) => passkey.id === id)) return null;
      return { ...others, passkeys: passkeys.map((passkey) => (passkey.id === id ? { ...passkey, name } : passkey)) };
    });
  }

  /** The options for `navigator.credentials.get()`: with any passkey of this service, or with one of this user. */
  async requestOptions({ store, rpId, bound }: PasskeyCall, user: string | null): Promise<object> {
    const { passkeys = [] } = user === null ? {} : await new FactorStore(store).get(user);
    return this.#web.generateAuthenticationOptions({
      rpID: rpId,
      challenge: await issueChallenge(store, { kind: kindOf(user), bound }),
      timeout: 300_000,
      userVerification: "required",
      ...(user === null ? {} : { allowCredentials: passkeys.map(descriptorOf) }),
    });
  }

  /**
   * Verifies the response of a browser to `requestOptions`, and returns the identity of the passkey's owner. Returns
   * `null` if it is not valid, is not a passkey of this user, or its counter went backwards, which means that there is a
   * copy of it.
   */
  async verify(
    attempt: SecretAttempt,
    { store, rpId, origins, bound }: PasskeyCall,
    user: string | null,
    credential: object,
    now: number,
  ): Promise<string | null> {
    const response = credential as WebAuthn.AuthenticationResponseJSON;
    const clientData = response.response?.clientDataJSON;
    const expectedChallenge = await redeemChallenge(store, clientData, { kind: kindOf(user), bound });
    if (expectedChallenge === null || typeof response.id !== "string") return null;
    const owner = await store.get(ownerKey(response.id));
    if (owner === null || (user !== null && owner !== user) || !isHandleOf(response.response.userHandle, owner))
      return null;
    const factors = new FactorStore(store);
    const passkey = find(await factors.get(owner), response.id);
    if (passkey === undefined) return null;
    const { id, publicKey, counter } = passkey;
    attempt.compares();
    const verified = await settled(() =>
      this.#web.verifyAuthenticationResponse({
        response,
        expectedChallenge,
        expectedOrigin: [...origins],
        expectedRPID: rpId,
        requireUserVerification: true,
        credential: { id, counter, publicKey: new Uint8Array(Buffer.from(publicKey, "base64url")) },
      }),
    );
    if (verified?.verified !== true) return null;
    const { newCounter, credentialBackedUp } = verified.authenticationInfo;
    const isUsed = await factors.change(owner, ({ passkeys = [], ...others }) => {
      const known = passkeys.find((entry) => entry.id === id);
      // Compared again, because another request may have used it since.
      if (known === undefined || (known.counter > 0 && newCounter <= known.counter)) return null;
      const used = { ...known, counter: newCounter, isBackedUp: credentialBackedUp, lastUsedAt: now };
      return { ...others, passkeys: passkeys.map((entry) => (entry.id === id ? used : entry)) };
    });
    return isUsed ? owner : null;
  }
}

/** Returns `null` if the library throws, which it does for every response that it does not accept. */
async function settled<T>(verify: () => Promise<T>): Promise<T | null> {
  try {
    return await verify();
  } catch {
    return null;
  }
}

function find({ passkeys = [] }: FactorRecord, id: string): PasskeyFactor | undefined {
  return passkeys.find((passkey) => passkey.id === id);
}

function descriptorOf({ id, transports }: PasskeyFactor): { readonly id: string; readonly transports?: string[] } {
  return { id, ...(transports === undefined ? {} : { transports: [...transports] }) };
}

function kindOf(user: string | null): "sign-in" | "prove" {
  return user === null ? "sign-in" : "prove";
}

/** The user handle of WebAuthn, which must not reveal who the user is. */
function handleOf(user: string): Buffer {
  return createHash("sha256").update(`portico passkey user ${user}`).digest();
}

/** An authenticator may leave the handle out if the server named the passkey. */
function isHandleOf(handle: string | undefined, user: string): boolean {
  return handle === undefined || handle === "" || handle === handleOf(user).toString("base64url");
}

export function ownerKey(id: string): string {
  return `passkey-owner:${sha256(id)}`;
}
