import { randomUUID } from "node:crypto";
import { Conflict } from "../../kernel/exceptions/http-exception.ts";
import type { KeyValueStore } from "../../stores/key-value-store.ts";
import { revoke } from "../../stores/revoke.ts";
import { changeRecord, parseRecord } from "../records/change-record.ts";
import { sha256 } from "../records/sha256.ts";
import type { ProviderAccount } from "./identity-provider.ts";

/** An account at a provider that a user signs in with. */
export interface ProviderLink {
  /** The hash of issuer and subject. */
  readonly account: string;
  readonly provider: string;
  /** The email address at the provider when the account was linked. */
  readonly email: string | null;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** The ways in which a user signs in. A user without a record has a password. */
interface SignInMethods {
  readonly links: readonly ProviderLink[];
  /** `false` for a user who registered with a provider, until the password is reset. */
  readonly hasPassword: boolean;
}

/**
 * The links between users and their accounts at providers.
 *
 * A link consists of two records: the owner of the account, and an entry in the owner's list. It is valid only while
 * both exist and the owner is not pending. An account has one owner record, so it never signs in two users, whatever is
 * interrupted. The list is one record, so the check that another sign-in method remains and the removal are one step.
 */
export class ProviderLinks {
  readonly #store: KeyValueStore;

  constructor(store: KeyValueStore) {
    this.#store = store;
  }

  /** Returns the identity of the user whom the account is linked to. */
  async ownerOf(account: ProviderAccount): Promise<string | null> {
    const hash = hashOf(account);
    const owner = await this.#owner(hash);
    return owner !== null && (await this.#isValid(owner, hash)) ? owner.user : null;
  }

  /** Lists the accounts that are linked to the user. */
  async list(user: string): Promise<readonly ProviderLink[]> {
    const methods = parseRecord<SignInMethods>(await this.#store.get(methodsKey(user)));
    return this.#valid(user, methods?.links ?? []);
  }

  /**
   * Links an account to a user. Throws 409 if it is linked to another user, or if the user has another account of the
   * provider.
   *
   * @param isNew whether the user has just registered and has no password
   */
  async add(user: string, provider: string, account: ProviderAccount, at: number, isNew = false): Promise<void> {
    const hash = hashOf(account);
    const pending: Owner = { user, attempt: randomUUID() };
    const link: ProviderLink = { account: hash, provider, email: account.email ?? null, at };
    if ((await this.ownerOf(account)) === user) return;
    await changeRecord<Owner>(this.#store, ownerKey(hash), async (owner) => {
      // An owner that is pending or not in the list is left over from an interruption, and is replaced.
      if (owner !== null && (await this.#isValid(owner, hash))) throw new AlreadyLinked(TAKEN);
      return pending;
    });
    await changeRecord<SignInMethods>(this.#store, methodsKey(user), async (methods) => {
      const { links, hasPassword } = methods ?? { links: [], hasPassword: !isNew };
      const others = await this.#valid(user, links);
      if (others.some((entry) => entry.provider === provider))
        throw new AlreadyLinked("Another account of this provider is already linked");
      return { hasPassword, links: [...others, link] };
    });
    // Fails if another user has become the owner in the meantime. Then the entry in the list is not valid.
    const isOwner = await this.#store.compareAndSet(ownerKey(hash), JSON.stringify(pending), JSON.stringify({ user }));
    if (!isOwner) throw new AlreadyLinked(TAKEN);
  }

  /**
   * Removes the user's link to a provider. Returns `false` if there is none. Throws 409 if the user could not sign in
   * any more.
   */
  remove(user: string, provider: string): Promise<boolean> {
    return revoke(this.#store, methodsKey(user), () => this.#remove(user, provider));
  }

  async #remove(user: string, provider: string): Promise<boolean> {
    let removed: ProviderLink | undefined;
    await changeRecord<SignInMethods>(this.#store, methodsKey(user), async (methods) => {
      const valid = await this.#valid(user, methods?.links ?? []);
      removed = valid.find((link) => link.provider === provider);
      if (methods === null || removed === undefined) return methods;
      const links = valid.filter((link) => link !== removed);
      if (links.length === 0 && !methods.hasPassword)
        throw new Conflict("This is the only way to sign in. Set a password or link another provider first.", {
          code: "LAST_SIGN_IN_METHOD",
        });
      return { ...methods, links };
    });
    if (removed === undefined) return false;
    await this.#release(user, removed.account);
    return true;
  }

  /** Releases the account of a user who no longer exists, so that it can be linked again. */
  async forget(user: string, account: ProviderAccount): Promise<void> {
    await changeRecord<SignInMethods>(this.#store, methodsKey(user), () => null);
    await this.#release(user, hashOf(account));
  }

  /** Records that the user has set a password. */
  async passwordSet(user: string): Promise<void> {
    await changeRecord<SignInMethods>(this.#store, methodsKey(user), (methods) =>
      methods === null || methods.hasPassword ? methods : { ...methods, hasPassword: true },
    );
  }

  /** Removes all links of the user except that to one account, and records whether the user still knows a password. */
  async endAll(
    user: string,
    kept: Pick<ProviderAccount, "issuer" | "subject"> | null,
    hasPassword: boolean,
  ): Promise<void> {
    const isKept = ({ account }: ProviderLink): boolean => kept !== null && account === hashOf(kept);
    let ended: readonly ProviderLink[] = [];
    await changeRecord<SignInMethods>(this.#store, methodsKey(user), (methods) => {
      if (methods === null && hasPassword) return null;
      const { links } = methods ?? { links: [] };
      ended = links.filter((link) => !isKept(link));
      return { hasPassword, links: links.filter(isKept) };
    });
    await Promise.all(ended.map(({ account }) => this.#release(user, account)));
  }

  /** The entries of the user's list whose account the user owns. */
  async #valid(user: string, links: readonly ProviderLink[]): Promise<readonly ProviderLink[]> {
    const owners = await Promise.all(links.map((link) => this.#owner(link.account)));
    return links.filter((_, index) => owners[index]?.user === user && owners[index]?.attempt === undefined);
  }

  async #isValid({ user, attempt }: Owner, account: string): Promise<boolean> {
    return attempt === undefined && (await this.list(user)).some((link) => link.account === account);
  }

  async #owner(account: string): Promise<Owner | null> {
    return parseRecord<Owner>(await this.#store.get(ownerKey(account)));
  }

  async #release(user: string, account: string): Promise<void> {
    await changeRecord<Owner>(this.#store, ownerKey(account), (owner) => (owner?.user === user ? null : owner));
  }
}

interface Owner {
  readonly user: string;
  /** Identifies the attempt to link the account, while it is pending. */
  readonly attempt?: string;
}

const TAKEN = "This account is already linked to another user";

/** 409: an account or a provider is already linked. */
class AlreadyLinked extends Conflict {
  override readonly name: string = "AlreadyLinked";

  constructor(message: string) {
    super(message, { code: "PROVIDER_ALREADY_LINKED" });
  }
}

/** Identifies an account. The email address is not part of it, because addresses are reassigned. */
function hashOf({ issuer, subject }: Pick<ProviderAccount, "issuer" | "subject">): string {
  return sha256(JSON.stringify([issuer, subject]));
}

function ownerKey(account: string): string {
  return `provider-account:${account}`;
}

function methodsKey(user: string): string {
  return `provider-accounts-of:${sha256(JSON.stringify(user))}`;
}
