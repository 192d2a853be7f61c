import type { HttpContext } from "../../kernel/context/http-context.ts";
import { addressBucket } from "../../kernel/exchange/address-bucket.ts";
import type { UserProtocol } from "../../kernel/identity/identity.ts";
import type { KeyValueStore } from "../../stores/key-value-store.ts";
import { sha256 } from "../records/sha256.ts";
import { BrowserCookie } from "../sessions/browser-cookie.ts";
import type { AccountModel, AccountUser } from "../users/account-model.ts";
import { canonicalName } from "../users/canonical-name.ts";
import type { SignInForm } from "./pending-sign-ins.ts";

/** How long a device is remembered after a sign-in: half a year. */
const REMEMBERED_SECONDS = 182 * 86_400;
const cookie = new BrowserCookie("__Host-portico_device", REMEMBERED_SECONDS);

/**
 * The devices on which users have signed in. A browser has a cookie. An app that uses tokens keeps none, so it is
 * recognised by its `User-Agent` and network. Stores contain only hashes, and no device outlives the credentials that
 * were valid at its last sign-in: a reset and "sign out everywhere" forget them all.
 */
export class KnownDevices {
  readonly #store: KeyValueStore;

  constructor(store: KeyValueStore) {
    this.#store = store;
  }

  /** Returns the browser of the request if a user has signed in with this identifier on it, else `null`. */
  async browserFor(
    ctx: HttpContext,
    identifier: string,
    users: Pick<AccountModel, "loadUser">,
  ): Promise<string | null> {
    const browser = cookie.read(ctx);
    if (browser === null) return null;
    const identity = await this.#store.get(keyOf(browser, "name", canonicalName(identifier)));
    const user = identity === null ? null : await users.loadUser(identity);
    return user !== null && (await this.#isKnown(browser, user)) ? browser : null;
  }

  /**
   * Remembers the device of a user who has just signed in. Returns whether it is new to an account that has signed in on
   * other devices before.
   */
  async remember(ctx: HttpContext, user: AccountUser, kind: SignInForm["kind"]): Promise<boolean> {
    const { identity, email, username } = user;
    const device = kind === "cookie" ? cookie.send(ctx) : appOf(ctx);
    const isKnown = await this.#isKnown(device, user);
    await this.#store.set(keyOf(device, "user", identity), versionOf(user), REMEMBERED_SECONDS * 1000);
    for (const name of kind === "cookie" ? [email, username] : [])
      await this.#store.set(keyOf(device, "name", canonicalName(name)), identity, REMEMBERED_SECONDS * 1000);
    const isFirst = await this.#store.setIfAbsent(keyOf("any", "user", identity), "");
    return !isKnown && !isFirst;
  }

  async #isKnown(device: string, user: UserProtocol): Promise<boolean> {
    return (await this.#store.get(keyOf(device, "user", user.identity))) === versionOf(user);
  }
}

function versionOf({ credentialVersion }: UserProtocol): string {
  return String(credentialVersion ?? "");
}

function appOf({ request }: HttpContext): string {
  return `${request.headers["user-agent"] ?? ""}\n${addressBucket(request.ip)}`;
}

function keyOf(device: string, kind: "user" | "name", whose: string): string {
  const hash = sha256(JSON.stringify([device, kind, whose]));
  return `known-device:${hash}`;
}
