import { hash as bcryptHash } from "@node-rs/bcrypt";
import { type CounterStore, memoryStores, type Stores } from "portico";
import { type AccountModel, PasswordHasher, type PasswordOptions } from "portico/auth";
import { userModel } from "portico/sql";
import { afterEach, beforeEach, expect, it } from "vitest";
import { migratedPlace, type Place } from "../../../sql/accounts/databases.ts";
import { type ObservedHashing, observeHashing } from "../../passwords/observed-hashing.ts";
import { accountHarness, ann, password } from "../account-harness.ts";

// timing.quiet.test.ts measures the time that this work takes.
const BCRYPT_COST = 6;

let place: Place;
let hashing: ObservedHashing;
beforeEach(() => {
  hashing = observeHashing();
});
afterEach(async () => {
  hashing.stop();
  await place.remove();
});

/** Fails a sign-in and returns the work that it took: hashes with their costs, statements, store and counter operations, mails. */
type Fail = (identifier: string, word: string) => Promise<readonly string[]>;

async function logins(options: PasswordOptions = {}, change?: (objects: AccountModel["objects"]) => object) {
  place = await migratedPlace("SQLite");
  const work: string[] = [];
  const User = userModel(place.open({ onStatement: ({ sql }) => void work.push(sql) }), {
    passwords: new PasswordHasher(options),
  });
  const objects = change?.(User.objects);
  const { post, mails, events } = accountHarness({
    users: User,
    stores: recorded(work),
    ...(objects === undefined ? {} : { objects }),
  });
  const fail: Fail = async (identifier, word) => {
    for (const list of [work, mails, events, hashing.calls, hashing.texts]) list.length = 0;
    const answer = await post("/login", { identifier, password: word });
    expect(answer.status).toBe(401);
    const costs = hashing.texts.filter((text) => text.startsWith("$")).map(costOf);
    return [...hashing.calls, ...costs, ...work, ...mails.map(({ kind }) => kind), ...events.map(({ kind }) => kind)];
  };
  // The first sign-in of a process makes the dummies.
  await fail("nobody", "to warm up with");
  return { User, fail };
}

/** The scheme and the cost of a stored hash, with the lengths of its salt and its digest. */
const costOf = (hash: string): string =>
  hash.startsWith("$2")
    ? hash.slice(0, 7)
    : hash.replace(/\$([^$]+)\$([^$]+)$/, (_, a, b) => ` ${a.length} ${b.length}`);

/** Stores that note each operation and never reach a limit: a guesser with enough addresses would not either. */
function recorded(work: string[]): Stores {
  const stores = memoryStores();
  const counters: CounterStore = {
    async increment() {
      work.push("counters.increment");
      return { value: 1, resetAfterMs: 1 };
    },
    async reset() {
      work.push("counters.reset");
    },
  };
  const durable = new Proxy(stores.durable, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== "function") return method;
      return (...args: unknown[]) => {
        work.push(`durable.${String(name)}`);
        return method.apply(target, args);
      };
    },
  });
  return { ...stores, counters, durable };
}

const words = ["wrong password", "x".repeat(1_024), "wrong pässword", "' or 1=1 --"];
const unknown = ["nobody", "nobody@no-such-domain.invalid", "NOBODY@EXAMPLE.ORG", "x' or '1'='1'@example.org"];
const known = ["ann", ann.email, "ANN@EXAMPLE.ORG", " ann@example.org "];

it("[REQ-04] [auth:AU-099] [auth:AU-101] an unknown user takes the same work as a wrong password, however they are written", async () => {
  const { User, fail } = await logins();
  await User.objects.createUser(ann);

  for (const word of words) {
    for (const [pair, name] of known.entries()) {
      const wrong = await fail(name, word);
      const missing = await fail(unknown[pair] as string, word);

      expect(wrong).toContain("argon2.verify");
      expect(missing, `${unknown[pair]} and ${name}`).toEqual(wrong);
    }
  }
});

it("[REQ-04] [auth:AU-100] an account with an old hash of bcrypt takes the same work as no account", async () => {
  const { User, fail } = await logins({ accepts: ["bcrypt"], legacyCosts: { bcrypt: BCRYPT_COST } });
  const passwordHash = await bcryptHash(password, { cost: BCRYPT_COST });
  await User.objects.importUser({ email: ann.email, username: "ann", passwordHash });

  const wrong = await fail("ann", "wrong password");

  expect(wrong).toEqual(expect.arrayContaining(["argon2.verify", "bcrypt.verify", "$2b$06$"]));
  expect(await fail("nobody", "wrong password")).toEqual(wrong);
});

it("[auth:AU-099] the same test detects a missing dummy hash", async () => {
  const { User, fail } = await logins({}, (objects) => ({
    authenticate: async (name: string, word: string) =>
      (await objects.get({ username: name })) === null ? null : objects.authenticate(name, word),
  }));
  await User.objects.createUser(ann);

  const wrong = await fail("ann", "wrong password");

  expect(wrong).toContain("argon2.verify");
  expect(await fail("nobody", "wrong password")).not.toEqual(wrong);
});

it("the test also detects an old hash that is cheaper than legacyCosts, which the guide documents", async () => {
  const { User, fail } = await logins({ accepts: ["bcrypt"], legacyCosts: { bcrypt: 5 } });
  const passwordHash = await bcryptHash(password, { cost: 4 });
  await User.objects.importUser({ email: ann.email, username: "ann", passwordHash });

  expect(await fail("ann", "wrong password")).toContain("$2b$04$");
  expect(await fail("nobody", "wrong password")).not.toContain("$2b$04$");
});
