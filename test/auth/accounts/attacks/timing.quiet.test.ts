import { hash as bcryptHash } from "@node-rs/bcrypt";
import { type CounterStore, memoryStores } from "portico";
import { type AccountModel, PasswordHasher, type PasswordOptions } from "portico/auth";
import { userModel } from "portico/sql";
import { afterEach, expect, it } from "vitest";
import { migratedPlace, type Place } from "../../../sql/accounts/databases.ts";
import { accountHarness, ann, password } from "../account-harness.ts";
import { bestOfThree, judge } from "./timing-judge.ts";

// npm run timing: with bcrypt at its usual cost, which takes minutes.
const IS_FULL = process.env["PORTICO_TIMING"] === "full";
const PAIRS = 200;
const BCRYPT_COST = IS_FULL ? 12 : 6;
const TIMEOUT_MS = IS_FULL ? 3_000_000 : 240_000;

let place: Place;
afterEach(() => place.remove());

/** A login by the route, in this process, without the limits: a guesser with addresses enough would meet none. */
async function logins(options: PasswordOptions = {}, change?: (objects: AccountModel["objects"]) => object) {
  place = await migratedPlace("SQLite");
  const User = userModel(place.open(), { passwords: new PasswordHasher(options) });
  const counters: CounterStore = {
    increment: async () => ({ value: 1, resetAfterMs: 1 }),
    reset: async () => {},
  };
  const objects = change?.(User.objects);
  const { post } = accountHarness({
    users: User,
    stores: { ...memoryStores(), counters },
    ...(objects === undefined ? {} : { objects }),
  });
  const fail = async (identifier: string, word: string): Promise<void> => {
    expect((await post("/login", { identifier, password: word })).status).toBe(401);
  };
  for (let n = 0; n < 5; n++) await fail("nobody", "to warm up with");
  return { User, fail };
}

/** Equal for both sides of a pair, and different in each pair. */
const words = ["wrong password", "x".repeat(1_024), "wrong pässword", "' or 1=1 --"];
const wordOf = (pair: number): string => words[pair % words.length] as string;
const unknown = ["nobody", "nobody@no-such-domain.invalid", "NOBODY@EXAMPLE.ORG", "x' or '1'='1'@example.org"];
const known = ["ann", ann.email, "ANN@EXAMPLE.ORG", " ann@example.org "];

it(
  "[REQ-04] [auth:AU-099] [auth:AU-101] time does not tell an unknown user from a wrong password, however they are written",
  async () => {
    const { User, fail } = await logins();
    await User.objects.createUser(ann);

    const verdict = await bestOfThree(() =>
      judge(
        (pair) => fail(unknown[pair % 4] as string, wordOf(pair >> 2)),
        (pair) => fail(known[pair % 4] as string, wordOf(pair >> 2)),
        PAIRS,
      ),
    );

    if (IS_FULL) process.stdout.write(`${JSON.stringify(verdict)}\n`);
    expect(verdict, JSON.stringify(verdict)).toMatchObject({ isEqual: true });
  },
  TIMEOUT_MS,
);

it(
  `[REQ-04] [auth:AU-100] time does not tell an account with an old hash of bcrypt, cost ${BCRYPT_COST}, from no account`,
  async () => {
    const { User, fail } = await logins({ accepts: ["bcrypt"], legacyCosts: { bcrypt: BCRYPT_COST } });
    const passwordHash = await bcryptHash(password, { cost: BCRYPT_COST });
    await User.objects.importUser({ email: ann.email, username: "ann", passwordHash });

    const verdict = await bestOfThree(() =>
      judge(
        () => fail("nobody", "wrong password"),
        () => fail("ann", "wrong password"),
        PAIRS,
      ),
    );
    if (IS_FULL) process.stdout.write(`${JSON.stringify(verdict)}\n`);
    expect(verdict, JSON.stringify(verdict)).toMatchObject({ isEqual: true });
  },
  TIMEOUT_MS,
);

it("[auth:AU-099] the same test detects a missing dummy hash", async () => {
  const { User, fail } = await logins({}, (objects) => ({
    authenticate: async (name: string, word: string) =>
      (await objects.get({ username: name })) === null ? null : objects.authenticate(name, word),
  }));
  await User.objects.createUser(ann);

  const verdict = await judge(
    () => fail("nobody", "wrong password"),
    () => fail("ann", "wrong password"),
    40,
  );

  expect(verdict.isEqual).toBe(false);
  expect(verdict.auc).toBeLessThan(0.1);
});

it("the test also detects an old hash that is cheaper than legacyCosts, which the guide documents", async () => {
  const { User, fail } = await logins({ accepts: ["bcrypt"], legacyCosts: { bcrypt: 9 } });
  const passwordHash = await bcryptHash(password, { cost: 4 });
  await User.objects.importUser({ email: ann.email, username: "ann", passwordHash });

  const verdict = await judge(
    () => fail("nobody", "wrong password"),
    () => fail("ann", "wrong password"),
    40,
  );

  expect(verdict.isEqual).toBe(false);
});
