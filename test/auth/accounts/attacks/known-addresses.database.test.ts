import * as fc from "fast-check";
import { memoryStores, type Stores } from "portico";
import type { AccountModel } from "portico/auth";
import { redisStores } from "portico/redis";
import { sqlStores, userModel } from "portico/sql";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { newPrefix, SHARED_URL } from "../../../../lab/servers/redis-server.ts";
import { migratedPlace } from "../../../sql/accounts/databases.ts";
import { type AccountHarness, accountHarness, ann, password, tokenOf } from "../account-harness.ts";
import { memoryUsers } from "../memory-users.ts";

const HERS = "victim@example.org";
const OURS = "mallory@evil.example";

/** A request of an attacker who wants to learn whether an address has an account, and who controls every byte. */
interface Probe {
  readonly path: string;
  readonly body: object;
}
const register = (email: string, username: string): Probe => ({
  path: "/register",
  body: { email, username, password },
});
const login = (identifier: string): Probe => ({ path: "/login", body: { identifier, password } });

/** The responses to the probes, and the emails that reach the attacker, with and without an account for the address. */
async function learn(harness: AccountHarness, probes: readonly Probe[], isKnown: boolean) {
  const { post, mails, users } = harness;
  await users.objects.createUser({ email: "bob@example.org", username: "bob", password: "the password of bob" });
  if (isKnown) await users.objects.createUser({ email: HERS, username: "victim-of-old", password: "her own password" });
  const responses: unknown[] = [];
  for (const [index, { path, body }] of probes.entries()) {
    const answer = await post(path, body, `203.0.113.${index}`);
    responses.push({ path, status: answer.status, body: answer.json(), headers: Object.keys(answer.headers) });
  }
  const received = () => mails.filter(({ to }) => to.toLowerCase() !== HERS).map(({ to, kind }) => `${kind} to ${to}`);
  return { responses, received };
}

/** Fails if the two differ. Returns the statuses of the responses. */
async function compare(probes: readonly Probe[], make: () => Promise<AccountHarness>): Promise<readonly unknown[]> {
  const [known, unknown] = [await make(), await make()];
  try {
    const [one, other] = [await learn(known, probes, true), await learn(unknown, probes, false)];

    expect(one.responses).toEqual(other.responses);
    // Mails are sent after the response.
    await vi.waitFor(() => expect(one.received().toSorted()).toEqual(other.received().toSorted()), 60_000);
    return one.responses.map((response) => (response as { status: number }).status);
  } finally {
    await Promise.all([known.app.close(), unknown.app.close()]);
  }
}

const hidden = async (users: AccountModel = memoryUsers(), stores: Stores = memoryStores()): Promise<AccountHarness> =>
  accountHarness({ users, stores, account: { verifyEmail: true } });

describe("an attacker cannot learn whether an address has an account", () => {
  it.each<readonly [string, readonly Probe[]]>([
    ["a username that is taken", [register(HERS, "bob")]],
    ["a username that was requested with the address before", [register(HERS, "new"), register(OURS, "new")]],
    ["the same, in another spelling", [register(HERS, "new"), register(OURS, "NEW")]],
    ["the same registration twice", [register(HERS, "new"), register(HERS, "new")]],
    [
      "two usernames",
      [register(HERS, "one"), register(HERS, "two"), register(OURS, "one"), register("b@x.example", "two")],
    ],
    [
      "the address as the username",
      [register(HERS, HERS), register(HERS, HERS), register(HERS, "new"), register(OURS, "new")],
    ],
    ["a sign-in with what was registered", [register(HERS, "new"), login("new"), login(HERS)]],
    [
      "a link",
      [
        { path: "/password/reset", body: { email: HERS } },
        { path: "/verify/request", body: { email: HERS } },
      ],
    ],
  ])("by %s", async (_what, probes) => {
    await expect(compare(probes, hidden)).resolves.toHaveLength(probes.length);
  });

  it("by any sequence of registrations, sign-ins and links", async () => {
    const emails = fc.constantFrom(HERS, HERS.toUpperCase(), OURS, "other@evil.example");
    const names = fc.constantFrom("one", "ONE", "two", "bob", HERS, "victim@EXAMPLE.org");
    const probe: fc.Arbitrary<Probe> = fc.oneof(
      { weight: 5, arbitrary: fc.tuple(emails, names).map(([email, name]) => register(email, name)) },
      { weight: 2, arbitrary: fc.oneof(emails, names).map(login) },
      { weight: 1, arbitrary: emails.map((email) => ({ path: "/password/reset", body: { email } })) },
      { weight: 1, arbitrary: emails.map((email) => ({ path: "/verify/request", body: { email } })) },
    );
    // Sequences are many, and hashing is slow: what it costs is the subject of other tests.
    const plain = {
      hash: async (text: string) => text,
      verify: async (text: string, stored: string | null) => ({ isRight: text === stored, needsRehash: false }),
    };
    const property = fc.asyncProperty(fc.array(probe, { minLength: 2, maxLength: 5 }), async (probes) => {
      await compare(probes, () => hidden(memoryUsers(plain)));
    });

    await expect(fc.assert(property, { numRuns: 60 })).resolves.toBeUndefined();
  });

  it.each(["PostgreSQL", "SQLite", "Redis"] as const)("with users in a database and stores on %s", async (where) => {
    const make = async (): Promise<AccountHarness> => {
      const place = await migratedPlace(where === "PostgreSQL" ? "PostgreSQL" : "SQLite");
      onTestFinished(() => place.remove());
      const database = place.open();
      const stores = where === "Redis" ? redisStores(SHARED_URL, { prefix: newPrefix() }) : sqlStores(database);
      return hidden(userModel(database), stores);
    };

    const probes = [register(HERS, "new"), register(OURS, "new"), register(HERS, "bob")];
    expect(await compare(probes, make)).toEqual([202, 202, 409]);
  });
});

it("an email change link is invalid after a request for another address, with or without an account for it", async () => {
  for (const isKnown of [true, false]) {
    const { post, mails, users, session } = accountHarness();
    await post("/register", ann);
    if (isKnown) await users.objects.createUser({ email: HERS, username: "victim", password: "her own password" });
    const headers = await session();
    await post("/email", { email: OURS }, undefined, headers);
    await vi.waitFor(() => expect(tokenOf(mails, "change_email")).not.toBe(""), 60_000);
    const token = tokenOf(mails, "change_email");

    expect((await post("/email", { email: HERS }, undefined, headers)).status).toBe(202);
    await vi.waitFor(() => expect(mails.map(({ to }) => to)).toContain(HERS), 60_000);

    expect((await post("/email/confirm", { token }, undefined, headers)).json()).toMatchObject({
      status: 400,
      code: "link_invalid",
    });
  }
});

it("a username is free again after a failed registration, and after its user is deleted", async () => {
  const users = memoryUsers();
  let isDown = true;
  const createUser: AccountModel["objects"]["createUser"] = (input) => {
    if (isDown) throw new Error("the database is down");
    return users.objects.createUser(input);
  };
  const stores = memoryStores();
  const { app, post } = accountHarness({ users, objects: { createUser }, stores });
  onTestFinished(() => app.close());

  expect((await post("/register", ann)).status).toBe(500);
  isDown = false;
  expect((await post("/register", ann)).status).toBe(202);
  expect((await post("/register", { ...ann, email: OURS })).json()).toMatchObject({ status: 409, code: "user_exists" });
});

it("the owner of an address is notified of a registration with it and with a taken username", async () => {
  const { app, post, mails } = accountHarness();
  onTestFinished(() => app.close());
  await post("/register", ann);

  expect((await post("/register", ann)).status).toBe(409);

  await expect.poll(() => mails).toEqual([{ to: ann.email, kind: "already_registered", url: null }]);
});
