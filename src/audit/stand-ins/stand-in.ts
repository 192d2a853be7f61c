import { systemClock } from "../../core/clock.ts";
import type { BaseContext } from "../../kernel/context/http-context.ts";
import type { Reporting } from "../../kernel/context/reporting.ts";
import { AnonymousUser, type Identity, type UserProtocol } from "../../kernel/identity/identity.ts";
import { type Sightings, STAND_IN_ID } from "./sightings.ts";
import type { SignIn } from "./sign-in.ts";
import { watched } from "./watched.ts";

/**
 * The context of a caller; `null` is an anonymous one. It has the members that gates usually read, and anything else is noted as
 * elsewhere.
 */
export function contextOf(caller: UserProtocol | null, signIn: SignIn, seen: Sightings): BaseContext {
  const user = caller ?? new AnonymousUser();
  const identity = caller === null ? { user, auth: null } : identityOf(user, signIn, seen);
  // A gate may read the database, which reports how long it waited for a connection, and ends with the request.
  const services = seen.object({ clock: systemClock, ...UNREPORTED }, () => seen.elsewhere);
  const { signal } = new AbortController();
  const known = { user, identity, scope: identity, log: SILENT, services, signal };
  return seen.object(known, () => seen.elsewhere) as BaseContext;
}

function identityOf(user: object, { scope, credential }: SignIn, seen: Sightings): Identity {
  const known = seen.object({ user, failure: undefined, refusal: undefined, challenge: undefined }, () => undefined);
  const facts = credential && seen.object(withFacts(credential), () => undefined);
  return watched({} as Identity, {
    read: (key) => {
      if (key === "auth") seen.hasReadMethod = true;
      if (key === "credential") seen.hasReadCredential = true;
      return key === "auth" ? scope : key === "credential" ? facts : known[key as never];
    },
    noted: () => {
      seen.hasLookedElsewhere = true;
    },
  });
}

/** Both facts, so that a credential without one of them is known not to have it. */
function withFacts({ level, signedInAt }: NonNullable<SignIn["credential"]>): Readonly<Record<string, unknown>> {
  return { level, signedInAt };
}

const quiet = (): void => {};
const UNREPORTED: Reporting = { load: { waited: quiet }, parts: { add: quiet } };
const SILENT = { trace: quiet, debug: quiet, info: quiet, warn: quiet, error: quiet, fatal: quiet };

/**
 * A user who does not exist, for asking gates.
 *
 * @param has whether the user has a permission
 * @param model the user class of the application, whose methods gates call
 */
export function standIn(has: (permission: string) => boolean, seen: Sightings, model: object | null): UserProtocol {
  const prototype = typeof model === "function" ? (model.prototype as object) : Object.prototype;
  const known: Readonly<Record<PropertyKey, unknown>> = {
    isAuthenticated: true,
    hasPermission: (name: string): boolean => {
      seen.permissions.add(name);
      return has(name);
    },
  };
  return watched(Object.create(prototype) as UserProtocol, {
    read: (key, stand) => {
      if (Object.hasOwn(known, key)) return known[key];
      if (Object.hasOwn(NAMES, key)) {
        seen.hasReadName = true;
        return NAMES[key];
      }
      // The methods of the class read the stand-in, too. The class itself may be another one for another user.
      if (key in prototype && key !== "constructor") return Reflect.get(prototype, key, stand);
      seen.hasLookedElsewhere = true;
      return undefined;
    },
    noted: () => {
      seen.hasLookedElsewhere = true;
    },
  });
}

const NAMES: Readonly<Record<PropertyKey, unknown>> = {
  id: STAND_IN_ID,
  identity: STAND_IN_ID,
  displayName: STAND_IN_ID,
  username: STAND_IN_ID,
  email: `${STAND_IN_ID}@invalid`,
};
