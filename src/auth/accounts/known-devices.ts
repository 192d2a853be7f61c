import { addressBucket } from "../../http/context/address-bucket.ts";
import type { HttpContext } from "../../http/context/http-context.ts";
import type { KeyValueStore } from "../../stores/key-value-store.ts";
import { BrowserCookie } from "../browser-cookie.ts";
import { deviceLabel } from "../sessions/device-label.ts";
import { sha256 } from "../sha256.ts";
import type { AccountUser } from "../users/account-model.ts";
import { canonicalName } from "../users/canonical-name.ts";
import type { SignInForm } from "./pending-sign-ins.ts";

/** How long a device is remembered after a sign-in: half a year. */
const REMEMBERED_SECONDS = 182 * 86_400;
const cookie = new BrowserCookie("__Host-portico_device", REMEMBERED_SECONDS);

/**
 * The devices on which users have signed in. A browser has a cookie. An app that uses tokens keeps none, so it is
 * recognised by its `User-Agent` and network. Stores contain only hashes.
 */
export class KnownDevices {
  readonly #store: KeyValueStore;

  constructor(store: KeyValueStore) {
    this.#store = store;
  }

  /** Returns the browser of the request if a user has signed in with this identifier on it, else `null`. */
  async browserFor(ctx: HttpContext, identifier: string): Promise<string | null> {
    const browser = cookie.read(ctx);
    if (browser === null) return null;
    return (await this.#store.get(keyOf(browser, "name", canonicalName(identifier)))) === null ? null : browser;
  }

  /**
   * Remembers the device of a user who has just signed in. Returns whether it is new to an account that has signed in on
   * other devices before.
   */
  async remember(
    ctx: HttpContext,
    { identity, email, username }: AccountUser,
    kind: SignInForm["kind"],
  ): Promise<boolean> {
    const device = kind === "cookie" ? cookie.send(ctx) : appOf(ctx);
    const entry = keyOf(device, "user", identity);
    const isKnown = (await this.#store.get(entry)) !== null;
    const names = kind === "cookie" ? [email, username].map((name) => keyOf(device, "name", canonicalName(name))) : [];
    for (const key of [entry, ...names]) await this.#store.set(key, "", REMEMBERED_SECONDS * 1000);
    const isFirst = await this.#store.setIfAbsent(keyOf("any", "user", identity), "");
    return !isKnown && !isFirst;
  }
}

function appOf({ request }: HttpContext): string {
  return `${deviceLabel(request.headers["user-agent"])}\n${addressBucket(request.ip)}`;
}

function keyOf(device: string, kind: "user" | "name", whose: string): string {
  const hash = sha256(JSON.stringify([device, kind, whose]));
  return `known-device:${hash}`;
}
