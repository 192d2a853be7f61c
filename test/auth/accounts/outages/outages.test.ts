import { type KeyValueStore, memoryStores, ServiceUnavailable } from "portico";
import { limitLogin } from "portico/auth";
import { describe, expect, it, onTestFinished } from "vitest";
import { codeAt } from "../../../../scripts/clients/authenticator-app.ts";
import { type AccountHarness, accountHarness, ann, password, tokenOf } from "../account-harness.ts";
import { memoryUsers } from "../memory-users.ts";

const right = { identifier: "ann", password };
const wrong = { identifier: "ann", password: "not her password" };

const away = (): Error => new ServiceUnavailable("away", { cause: new Error("the connection was refused") });

interface World extends AccountHarness {
  /** What is down: the database before or after the comparison of a password, or the store of everything else. */
  readonly down: { before: boolean; after: boolean; users: boolean; store: boolean };
}

/** An application whose database and store of sessions, factors and links can be down. Its counters always work. */
async function world(): Promise<World> {
  const down = { before: false, after: false, users: false, store: false };
  const users = memoryUsers();
  const fail = (isDown: boolean): void => {
    if (isDown) throw away();
  };
  const { durable, ...stores } = memoryStores();
  const failing = new Proxy(durable, {
    get(store, name: keyof KeyValueStore) {
      const member = store[name];
      if (typeof member !== "function") return member;
      return (...args: never[]) => {
        if (down.store && !["start", "close", "check"].includes(name)) return Promise.reject(away());
        return (member as (...args: never[]) => unknown).apply(store, args);
      };
    },
  });
  const harness = accountHarness({
    isOwned: true,
    users: {
      async loadUser(identity) {
        fail(down.users);
        return users.loadUser(identity);
      },
      objects: {
        ...users.objects,
        authenticate: (identifier, word) =>
          limitLogin(identifier, async (mayTry) => {
            fail(down.before);
            if (down.after) await mayTry("ann");
            fail(down.after);
            return users.objects.authenticate(identifier, word);
          }),
      },
    },
    stores: { ...stores, durable: failing },
  });
  onTestFinished(() => harness.app.close());
  await harness.users.objects.createUser(ann);
  return { ...harness, down };
}

const statuses = async (
  count: number,
  call: () => Promise<{ readonly status: number }>,
): Promise<readonly number[]> => {
  const found: number[] = [];
  for (let n = 0; n < count; n++) found.push((await call()).status);
  return [...new Set(found)];
};

describe("an outage", () => {
  it("of the database does not use up the attempts to sign in", async () => {
    const { post, down } = await world();
    down.before = true;
    const during = await statuses(120, () => post("/login", right));
    down.before = false;

    expect(during).toEqual([503]);
    expect((await post("/login", right)).status).toBe(200);
    expect(await statuses(5, () => post("/login", wrong))).toEqual([401]);
    expect((await post("/login", right)).status).toBe(429);
  });

  it("after the password was compared counts as an attempt, and has the same response as one before it", async () => {
    const { post, down } = await world();
    down.before = true;
    const before = await post("/login", right);
    Object.assign(down, { before: false, after: true });
    const after = await post("/login", right);
    Object.assign(down, { after: false, store: true });
    const afterSuccess = await post("/login", right);
    Object.assign(down, { store: false, after: true });
    await statuses(5, () => post("/login", wrong));

    const shown = (response: typeof before) => {
      const { correlation_id: _, ...body } = response.json() as Record<string, unknown>;
      return { status: response.status, retry: response.headers["retry-after"], body };
    };
    expect(shown(after)).toEqual(shown(before));
    expect(shown(afterSuccess)).toEqual(shown(before));
    expect((await post("/login", right)).status).toBe(429);
  });

  it("does not use up the attempts to prove a second factor", async () => {
    const { post, down, session } = await world();
    const headers = await session();
    const { secret } = (await post("/factors/totp", {}, undefined, headers)).json() as { secret: string };
    const code = codeAt(secret, Date.now());
    down.store = true;
    const during = await statuses(8, () => post("/factors/totp/confirm", { code }, undefined, headers));
    down.store = false;

    expect(during).toEqual([503]);
    expect((await post("/factors/totp/confirm", { code }, undefined, headers)).status).toBe(200);
  });

  it("does not use up the attempts to reset a password", async () => {
    const { post, down, mails } = await world();
    await post("/password/reset", { email: ann.email });
    await expect.poll(() => tokenOf(mails, "reset")).not.toBe("");
    const reset = { token: tokenOf(mails, "reset"), password: "another good password" };
    down.store = true;
    const during = await statuses(12, () => post("/password/reset/confirm", reset));
    down.store = false;

    expect(during).toEqual([503]);
    expect((await post("/password/reset/confirm", reset)).status).toBe(204);
  });

  it("does not use up the refreshes of a family", async () => {
    const { post, down } = await world();
    const { refresh_token } = (await post("/token", right)).json() as { refresh_token: string };
    down.users = true;
    const during = await statuses(12, () => post("/refresh", { refresh_token }));
    down.users = false;

    expect(during).toEqual([503]);
    expect((await post("/refresh", { refresh_token })).status).toBe(200);
  });
});

it("guesses by an email address and a username of one account share a budget of 50, with the same responses as unknown names", async () => {
  const { post } = await world();
  const guess = async (first: string, second: string) => {
    const found: number[] = [];
    for (let n = 0; n < 110; n++)
      found.push(
        (await post("/login", { ...wrong, identifier: n % 2 === 0 ? first : second }, `10.1.${first.length}.${n}`))
          .status,
      );
    return found;
  };
  const known = await guess(ann.email, "ann");

  expect((await post("/login", right, "10.2.0.1")).status).toBe(429);
  expect(known).toEqual(await guess("none@example.org", "none"));
});

it("the right password is not accepted by either name after 50 guesses by both", async () => {
  const { post } = await world();
  for (let n = 0; n < 50; n++)
    await post("/login", { ...wrong, identifier: n % 2 === 0 ? ann.email : "ann" }, `10.3.0.${n}`);

  const [byName, byEmail] = [
    await post("/login", right, "10.4.0.1"),
    await post("/login", { ...right, identifier: ann.email }, "10.4.0.2"),
  ];

  expect([byName.status, byEmail.status]).toEqual([401, 401]);
});
