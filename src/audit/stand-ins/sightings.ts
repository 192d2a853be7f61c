import { watched } from "./watched.ts";

/** The id of stand-ins. No user has it, so no row is theirs. */
export const STAND_IN_ID = "portico-audit";

/** The things that a gate looked at while it decided. */
export class Sightings {
  /** The permissions that it asked for. */
  readonly permissions: Set<string> = new Set<string>();
  /** Whether it looked at the object, the request or a fact about the user, which do not exist here. */
  hasLookedElsewhere = false;
  /** Whether it read the name of the user, which differs between users. */
  hasReadName = false;
  /** Whether it read by which method the user signed in. */
  hasReadMethod = false;
  /** Whether it read how strong and how old the sign-in is. */
  hasReadCredential = false;

  /** A request that nothing can be read from: looking is noted, and fails. */
  readonly elsewhere: object = watched(() => {}, {
    // A promise resolves to an object after it has looked for `then`.
    read: (key) => (key === "then" ? undefined : this.#fail()),
    noted: () => this.#fail(),
  });

  /** An object that is not the caller's: every member has a value that equals nothing. */
  strange(): object {
    return this.object({}, (key) => `${STAND_IN_ID} ${key}`);
  }

  /** An object without any value. */
  empty(): object {
    return this.object({}, () => null);
  }

  /** An object with known members. Looking for others is noted. */
  object(known: Readonly<Record<string, unknown>>, valueOf: (key: string) => unknown): object {
    const noted = (): void => {
      this.hasLookedElsewhere = true;
    };
    return watched(
      {},
      {
        read: (key) => {
          if (Object.hasOwn(known, key)) return known[key as string];
          noted();
          return typeof key === "symbol" || key === "then" ? undefined : valueOf(String(key));
        },
        noted,
      },
    );
  }

  #fail(): never {
    this.hasLookedElsewhere = true;
    throw new Error("the gate depends on an object or a request");
  }
}
