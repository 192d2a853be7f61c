import { randomUUID } from "node:crypto";
import { UserBaseModel } from "../../auth/users/user-base-model.ts";
import type { CurrentUser, UserProtocol } from "../../kernel/identity/identity.ts";

/** The credential version of stand-ins. A credential of an older version must not be accepted. */
export const STAND_IN_VERSION = 2;

/** Makes users who are not in the user model, of the class of the application. */
export class StandInUsers {
  /** The methods that could not be taken from the class. */
  readonly notes: readonly string[];
  readonly #prototype: object;
  readonly #replaced: ReadonlySet<"hasPermission" | "narrowedTo">;

  constructor(model: object | null) {
    const isClass = typeof model === "function" && typeof model.prototype === "object";
    this.#prototype = isClass ? (model.prototype as object) : UserBaseModel.prototype;
    const name = isClass ? model.name : "";
    const replaced = new Set<"hasPermission" | "narrowedTo">();
    const notes: string[] = [];
    if (!isClass && model !== null)
      notes.push("the user model is not a class, so stand-ins are plain users with a list of permissions");
    const probe = this.#make(randomUUID(), [PROBE]);
    if (!grants(probe)) {
      replaced.add("hasPermission");
      notes.push(
        `the class ${name} does not decide by a list named permissions, so its hasPermission was not attacked`,
      );
    }
    if (!narrows(probe)) {
      replaced.add("narrowedTo");
      notes.push(`${name}.narrowedTo cannot run for a stand-in, so it was not attacked`);
    }
    this.#replaced = replaced;
    this.notes = notes;
  }

  /** A user for requests. Its methods are those of the application's class. */
  user(permissions: readonly string[]): CurrentUser {
    const user = this.#make(randomUUID(), permissions);
    if (this.#replaced.has("hasPermission")) decideByList(user, permissions);
    if (this.#replaced.has("narrowedTo")) define(user, "narrowedTo", undefined);
    return user;
  }

  /** The user for asking a declaration. It has exactly these permissions, whatever the class says. */
  declared(identity: string, permissions: readonly string[]): UserProtocol {
    const user = this.#make(identity, permissions);
    decideByList(user, permissions);
    return user;
  }

  #make(identity: string, permissions: readonly string[]): UserProtocol {
    const user = Object.create(this.#prototype) as UserProtocol;
    const name = `portico-audit-${identity.slice(0, 8)}`;
    const members = {
      isAuthenticated: true,
      id: identity,
      identity,
      displayName: name,
      username: name,
      email: `${name}@invalid`,
      isVerified: true,
      isDisabled: false,
      credentialVersion: STAND_IN_VERSION,
      createdAt: new Date(),
      permissions,
      roles: [],
    };
    for (const [key, value] of Object.entries(members)) define(user, key, value);
    return user;
  }
}

const PROBE = "portico:probe";

function grants(user: UserProtocol): boolean {
  try {
    return user.hasPermission(PROBE);
  } catch {
    return false;
  }
}

/** Whether `narrowedTo` is missing, which is usual, or returns a user. */
function narrows(user: UserProtocol): boolean {
  try {
    return user.narrowedTo === undefined || typeof user.narrowedTo([]).isAuthenticated === "boolean";
  } catch {
    return false;
  }
}

function decideByList(user: UserProtocol, permissions: readonly string[]): void {
  define(user, "hasPermission", (name: string) => permissions.includes(name));
}

/** Own members hide the accessors of the class, which may read private members. */
function define(user: object, key: string, value: unknown): void {
  Object.defineProperty(user, key, { value, enumerable: true, configurable: true, writable: true });
}
