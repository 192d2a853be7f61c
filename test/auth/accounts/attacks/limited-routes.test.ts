import { type CounterStore, memoryStores, type Reservation } from "portico";
import { github } from "portico/auth";
import { manualClock } from "portico/testing";
import { expect, it, onTestFinished } from "vitest";
import { accountHarness, ann, password } from "../account-harness.ts";
import { memoryUsers } from "../memory-users.ts";

/** Counters that note whether anything was counted. */
class NotingCounters implements CounterStore {
  count = 0;

  async increment(): Promise<{ readonly value: number; readonly resetAfterMs: number }> {
    this.count++;
    return { value: 1, resetAfterMs: 1_000 };
  }
  async reserve(): Promise<Reservation> {
    return { ...(await this.increment()), isGranted: true, refund: async () => {} };
  }
  async reset(): Promise<void> {}
}

const plain = {
  hash: async (word: string) => word,
  verify: async (word: string, stored: string | null) => ({ isRight: word === stored, needsRehash: false }),
};

/** A body that every account route accepts, because unknown members are ignored. Each secret in it is wrong. */
const EVERYTHING = {
  identifier: "ann",
  email: "new@example.org",
  username: "newcomer",
  password: "not her password",
  current_password: "not her password",
  new_password: "a much better password",
  token: "wrong",
  code: "000000",
  refresh_token: "wrong",
  credential: { id: "wrong", response: {} },
  user: "wrong",
};

/** The routes that count nothing, and the reason. A new route fails this test until it has a limit or stands here. */
const UNLIMITED: Readonly<Record<string, string>> = {
  "POST /account/logout": "signs the holder of a token out, and says nothing about the token",
  "POST /account/logout/everywhere": "compares no secret",
  "DELETE /account/sessions/{id}": "compares no secret",
  "DELETE /account/keys/{id}": "compares no secret",
  "DELETE /account/factors/totp": "compares no secret",
  "POST /account/factors/recovery-codes": "compares no secret",
  "POST /account/passkeys": "compares no secret of the account: it adds one",
  "PATCH /account/passkeys/{id}": "compares no secret",
  "DELETE /account/passkeys/{id}": "compares no secret",
  "DELETE /account/providers/{name}": "compares no secret",
  "POST /account/impersonation/end": "compares no secret",
};

it("every account route that changes something has a limit, unless it compares no secret", async () => {
  const unlimited: string[] = [];
  const make = async () => {
    const counters = new NotingCounters();
    const clock = manualClock();
    const harness = accountHarness({
      isOwned: true,
      users: memoryUsers(plain),
      stores: { ...memoryStores(), counters },
      account: {
        providers: [github({ clientId: "id", clientSecret: "secret" })],
        passkeys: { rpName: "Shop" },
        signInMails: true,
        impersonation: { permission: "read:books" },
      },
      app: { clock },
    });
    onTestFinished(() => harness.app.close());
    await harness.users.objects.createUser(ann);
    const headers = await harness.session("ann", password);
    // Past the time in which a sign-in is recent, so that routes ask for the password.
    clock.advance(3_600_000);
    counters.count = 0;
    return { ...harness, counters, headers };
  };
  const { paths } = (await make()).app.openapi() as unknown as { paths: Record<string, Record<string, unknown>> };
  const mutations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods)
      .filter((method) => path.startsWith("/account/") && ["post", "put", "patch", "delete"].includes(method))
      .map((method) => [method.toUpperCase(), path] as const),
  );
  for (const [method, path] of mutations) {
    const { app, counters, client, headers } = await make();
    const url = path.replace("{name}", "github").replace("{id}", "x");
    await client.request(method, url, { body: EVERYTHING, headers });
    await app.close();
    if (counters.count === 0) unlimited.push(`${method} ${path}`);
  }

  expect(mutations.length).toBeGreaterThan(30);
  expect(unlimited.toSorted()).toEqual(Object.keys(UNLIMITED).toSorted());
});
