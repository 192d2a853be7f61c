import { systemClock } from "../core/clock.ts";
import type { BaseContext } from "../http/context/http-context.ts";
import type { Credential } from "../http/identity/credential.ts";
import { AnonymousUser, type AuthScope, type UserProtocol } from "../http/identity/identity.ts";

/** The id of stand-ins. No user has it, so no row is theirs. */
const STAND_IN_ID = "portico-audit";

/** The things that a gate looked at while it decided. */
export class Sightings {
  /** The permissions that it asked for. */
  readonly permissions: Set<string> = new Set<string>();
  /** Whether it depends on the object or the request, which do not exist here. */
  hasLookedElsewhere = false;

  /** An object that is not the caller's: every property has a value that equals nothing. Reading is noted. */
  readonly strange: object = this.#object((key) => `portico-audit ${key}`);
  /** An object without any value. Reading is noted. */
  readonly empty: object = this.#object(() => null);

  /** A request that nothing can be read from: reading is noted, and fails. */
  readonly elsewhere: object = new Proxy(() => {}, {
    get: (_target, key) => {
      // A promise resolves to an object after it has looked for this.
      if (key === "then") return undefined;
      throw this.#lookedElsewhere();
    },
    has: () => {
      throw this.#lookedElsewhere();
    },
    ownKeys: () => {
      throw this.#lookedElsewhere();
    },
    apply: () => {
      throw this.#lookedElsewhere();
    },
  });

  #object(valueOf: (key: string) => unknown): object {
    return new Proxy(
      {},
      {
        get: (_target, key) => {
          if (typeof key === "symbol" || key === "then") return undefined;
          this.hasLookedElsewhere = true;
          return valueOf(key);
        },
      },
    );
  }

  #lookedElsewhere(): Error {
    this.hasLookedElsewhere = true;
    return new Error("the gate depends on an object or a request");
  }
}

/**
 * The context of a caller who has just signed in by this method; `null` is an anonymous caller. It has the members that gates
 * usually read, and anything else is noted as elsewhere.
 */
export function contextOf(
  caller: UserProtocol | null,
  scope: AuthScope,
  seen: Sightings,
  credential: Credential = JUST_NOW,
): BaseContext {
  const user = caller ?? new AnonymousUser();
  const identity = caller === null ? { user, auth: null } : { user, auth: scope, credential };
  const known: Readonly<Record<string, unknown>> = { user, identity, log: SILENT, services: { clock: systemClock } };
  return new Proxy({} as BaseContext, {
    get: (_target, key) => (key in known ? known[key as string] : key === "then" ? undefined : seen.elsewhere),
  });
}

const quiet = (): void => {};
const SILENT = { trace: quiet, debug: quiet, info: quiet, warn: quiet, error: quiet, fatal: quiet };

const JUST_NOW: Credential = {
  level: "mfa",
  get signedInAt(): number {
    return systemClock.now();
  },
};

/**
 * A user who does not exist, with these permissions, for asking gates.
 *
 * @param model the user class of the application, whose methods gates call
 */
export function standIn(permissions: readonly string[], seen: Sightings, model: object | null): UserProtocol {
  const prototype = typeof model === "function" ? (model.prototype as object) : Object.prototype;
  const own: Readonly<Record<string, unknown>> = {
    isAuthenticated: true,
    id: STAND_IN_ID,
    identity: STAND_IN_ID,
    displayName: STAND_IN_ID,
    username: STAND_IN_ID,
    email: `${STAND_IN_ID}@invalid`,
    hasPermission: (name: string): boolean => {
      seen.permissions.add(name);
      return permissions.includes(name);
    },
  };
  return new Proxy(Object.create(prototype) as UserProtocol, {
    get: (target, key, receiver) => (Object.hasOwn(own, key) ? own[key as string] : Reflect.get(target, key, receiver)),
  });
}
