import { type CounterStore, memoryStores, type Stores } from "portico";
import { limitLogin } from "portico/auth";
import { field, Graph, mutation, schema, t } from "portico/graphql";
import { logCatcher, resetLimits } from "portico/testing";
import { describe, expect, it, vi } from "vitest";
import { heapAfterCollection } from "../../../heap-after-collection.ts";
import { accountHarness, ann, password, tokenOf } from "../account-harness.ts";
import { accountsIn, EVERYWHERE } from "../account-places.ts";

const wrong = "wrong password";
const address = (n: number): string => `198.51.${n >> 8}.${n & 255}`;

/** The body of a response, whatever time is left. */
const withoutSeconds = (response: { json(): unknown } | undefined): string =>
  JSON.stringify(response?.json()).replace(/in \d+ s/, "in some seconds");

/** Counts, and looks at no password: hundreds of them would take minutes. */
const refusing = { objects: { authenticate: async () => null } };

accountsIn(EVERYWHERE, (accounts) => {
  describe("signing in", () => {
    it("[REQ-31] [auth:AU-126] allows 5 attempts in 15 minutes per account and address, even for unknown accounts", async () => {
      const { post } = accounts();
      await post("/register", ann);
      const attempt = (identifier: string, word: string) => post("/login", { identifier, password: word }, address(1));

      const known = [];
      for (let n = 0; n < 6; n++) known.push(await attempt("ann", wrong));
      const right = await attempt("ann", password);
      const unknown = [];
      for (let n = 0; n < 6; n++) unknown.push(await attempt("nobody", wrong));

      expect(known.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401, 429]);
      expect(unknown.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401, 429]);
      expect(right.status).toBe(429);
      // The attempts themselves take time on a busy machine, and a test has 180 s.
      expect(Number(right.headers["retry-after"])).toBeLessThanOrEqual(900);
      expect(Number(right.headers["retry-after"])).toBeGreaterThan(900 - 180);
      expect(withoutSeconds(unknown[5])).toEqual(withoutSeconds(known[5]));
    });

    it("[REQ-31] [auth:AU-126] allows 5 attempts for a user with two names, and responds as if they were two users", async () => {
      const { post } = accounts();
      await post("/register", ann);
      await post("/register", { ...ann, email: "bob@example.org", username: "bob" });
      const attempt = async (identifier: string, word: string, from: number) =>
        (await post("/login", { identifier, password: word }, address(from))).status;
      const guess = async (...names: readonly string[]) => {
        const statuses: number[] = [];
        for (const name of names) statuses.push(await attempt(name, wrong, 20));
        return statuses;
      };

      expect(await guess("ann", "ann", ann.email, ann.email, "ann")).toEqual([401, 401, 401, 401, 401]);
      // The right password is not looked at any more, by either name; a 429 would say that both are one user.
      expect(await attempt("ann", password, 20)).toBe(401);
      expect(await attempt(ann.email, password, 20)).toBe(401);
      expect(await attempt("bob", password, 20)).toBe(200);
      expect(await attempt(ann.email, password, 21)).toBe(200);
      expect(await guess(ann.email, ann.email, ann.email)).toEqual([401, 401, 429]);
      expect(await guess("nobody", "nobody", "nobody", "nobody", "nobody", "nobody")).toEqual([
        401, 401, 401, 401, 401, 429,
      ]);
    });

    it("resets the attempts of both names of a user after a success and after a password reset", async () => {
      const { post, mails } = accounts();
      await post("/register", ann);
      const attempt = async (identifier: string, word: string) =>
        (await post("/login", { identifier, password: word }, address(22))).status;
      const fail = async (...names: readonly string[]) => {
        for (const name of names) expect(await attempt(name, wrong)).toBe(401);
      };

      await fail("ann", "ann", ann.email, ann.email);
      expect(await attempt("ann", password)).toBe(200);
      await fail("ann", "ann", "ann", ann.email, ann.email);
      expect(await attempt("ann", password)).toBe(401);
      await post("/password/reset", { email: ann.email }, address(22));
      await vi.waitFor(() => expect(tokenOf(mails, "reset")).not.toBe(""), 60_000);
      const reset = { token: tokenOf(mails, "reset"), password: "another good password" };
      expect((await post("/password/reset/confirm", reset, address(22))).status).toBe(204);

      expect(await attempt("ann", "another good password")).toBe(200);
    });

    it("[REQ-06] [REQ-31] [auth:AU-127] allows 20 attempts in five minutes from one address, whatever the account", async () => {
      const { post } = accounts(refusing);

      const statuses: number[] = [];
      for (let n = 0; n < 22; n++)
        statuses.push((await post("/login", { identifier: `user${n}`, password: wrong }, address(2))).status);

      expect(statuses).toEqual([...Array.from({ length: 20 }, () => 401), 429, 429]);
    });

    it("[REQ-31] allows 100 attempts in an hour from one address", async () => {
      const stores = memoryStores();
      // The window of five minutes begins anew all the time, that of an hour does not.
      const counters: CounterStore = {
        increment: async (key, windowMs) =>
          windowMs === 300_000 ? { value: 1, resetAfterMs: windowMs } : stores.counters.increment(key, windowMs),
        reset: (key, windowMs) => stores.counters.reset(key, windowMs),
      };
      const { post } = accounts({ ...refusing, stores: { ...stores, counters } });

      const last: number[] = [];
      for (let n = 0; n < 101; n++)
        last.push((await post("/login", { identifier: `user${n}`, password: wrong }, address(3))).status);

      expect([last[99], last[100]]).toEqual([401, 429]);
    });

    it("[REQ-07] [REQ-31] [auth:AU-128] allows 50 attempts in 15 minutes for one account from all addresses", async () => {
      const { post } = accounts(refusing);

      const statuses: number[] = [];
      for (let n = 0; n < 51; n++)
        statuses.push((await post("/login", { identifier: "ann", password: wrong }, address(n + 10))).status);

      expect(statuses.slice(49)).toEqual([401, 429]);
    });

    it("[auth:AU-129] counts by the connection if no proxy is trusted", async () => {
      const { post } = accounts({ ...refusing, app: { trustedProxies: [] } });

      const statuses: number[] = [];
      for (let n = 0; n < 21; n++)
        statuses.push((await post("/login", { identifier: `user${n}`, password: wrong }, address(n))).status);

      expect(statuses.slice(19)).toEqual([401, 429]);
    });

    it("[auth:AU-130] counts by the address that the proxy saw, whatever the client sent", async () => {
      const { post } = accounts(refusing);

      const statuses: number[] = [];
      for (let n = 0; n < 21; n++)
        statuses.push(
          (await post("/login", { identifier: `user${n}`, password: wrong }, `${address(n)}, 192.0.2.9`)).status,
        );

      expect(statuses.slice(19)).toEqual([401, 429]);
      expect(() => accounts({ app: { trustedProxies: true as never } })).toThrow("trustedProxies");
    });

    it("[auth:AU-131] counts by the connection if a proxy forwards an invalid address", async () => {
      const { post } = accounts(refusing);
      const garbage = ["unknown", "1.2.3.4.5", "<script>", "::1::", "256.1.1.1", "_hidden", "a,,b"];

      const statuses: number[] = [];
      for (let n = 0; n < 21; n++)
        statuses.push(
          (
            await post(
              "/login",
              { identifier: `user${n}`, password: wrong },
              `${garbage[n % garbage.length]}${n > 13 ? n : ""}`,
            )
          ).status,
        );

      expect(statuses.slice(19)).toEqual([401, 429]);
    });

    it("[auth:AU-132] counts an IPv6 network as one address, and a mapped address as IPv4", async () => {
      const { post } = accounts(refusing);
      const attempt = async (n: number, from: string): Promise<number> =>
        (await post("/login", { identifier: `user${n}`, password: wrong }, from)).status;

      for (let n = 0; n < 20; n++) await attempt(n, `2001:db8:1:2::${n + 1}`);
      for (let n = 0; n < 20; n++) await attempt(n + 20, "192.0.2.7");

      expect(await attempt(50, "2001:db8:1:2:ffff::1")).toBe(429);
      expect(await attempt(51, "2001:db8:1:3::1")).toBe(401);
      expect(await attempt(52, "::ffff:192.0.2.7")).toBe(429);
    });

    it("[auth:AU-133] counts all spellings of an account together", async () => {
      const { post } = accounts(refusing);
      const spellings = [
        "ann@example.org",
        "ANN@example.org",
        " ann@example.org ",
        "ａnn@example.org",
        "Ann@Example.org",
      ];

      for (const identifier of spellings) await post("/login", { identifier, password: wrong }, address(5));

      expect((await post("/login", { identifier: "aNN@example.org", password: wrong }, address(5))).status).toBe(429);
    });

    it("[auth:AU-134] checks no more passwords than the limit when 100 attempts arrive at once", async () => {
      let verified = 0;
      const authenticate = async (): Promise<null> => {
        verified++;
        return null;
      };
      const { post } = accounts({ objects: { authenticate } });

      await Promise.all(Array.from({ length: 100 }, () => post("/login", { identifier: "ann", password }, address(6))));

      expect(verified).toBe(5);
    });

    it("[auth:AU-135] resets the attempts per account and address after a success, but not those per address", async () => {
      const { post } = accounts();
      await post("/register", ann);
      const attempt = async (identifier: string, word: string): Promise<number> =>
        (await post("/login", { identifier, password: word }, address(7))).status;

      for (let n = 0; n < 4; n++) await attempt("ann", wrong);
      expect(await attempt("ann", password)).toBe(200);
      for (let n = 0; n < 4; n++) expect(await attempt("ann", wrong)).toBe(401);
      expect(await attempt("ann", password)).toBe(200);
      for (let n = 0; n < 10; n++) expect(await attempt(`other${n}`, wrong)).toBe(401);
      expect(await attempt("one more", wrong)).toBe(429);
    });

    it("[auth:AU-136] counts in this process while the counter store is down, and logs it", async () => {
      const log = logCatcher();
      const stores = memoryStores();
      const counters: CounterStore = {
        increment: () => Promise.reject(new Error("down")),
        reset: () => Promise.reject(new Error("down")),
      };
      const { post } = accounts({ ...refusing, stores: { ...stores, counters }, app: { logger: log } });

      const statuses: number[] = [];
      for (let n = 0; n < 6; n++)
        statuses.push((await post("/login", { identifier: "ann", password: wrong }, address(8))).status);

      expect(
        log.lines.filter(({ level, msg }) => level === "error" && msg.includes("counter store unavailable")),
      ).toHaveLength(1);
      expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
    });

    it("[auth:AU-141] [graphql:G6] counts each alias and each entry of a batch of a login written as a mutation", async () => {
      const harness = accounts();
      const login = mutation(t.boolean, { params: { name: t.string, word: t.string } })(
        async ({ name, word }) =>
          (await limitLogin(name, () => harness.users.objects.authenticate(name, word))) !== null,
      );
      const query = { ok: field(t.boolean)(() => true) };
      new Graph(schema({ query, mutation: { login } })).mount(harness.app);
      const aliased = (count: number): string =>
        `mutation { ${Array.from({ length: count }, (_, n) => `a${n}: login(name: "ann", word: "wrong password")`).join(" ")} }`;
      await harness.post("/register", ann);
      const send = (body: unknown) =>
        harness.client.post("/graphql", { body, headers: { "x-forwarded-for": address(9) } });

      const flood = await send({ query: aliased(1_000) });
      const seven = (await send({ query: aliased(7) })).json() as { errors: { extensions: { code: string } }[] };
      const batch = (await send([{ query: aliased(1) }, { query: aliased(1) }])).json() as { errors?: unknown[] }[];

      const guess = { query: aliased(1) };
      const ten = (
        await harness.client.post("/graphql", {
          body: Array.from({ length: 10 }, () => guess),
          headers: { "x-forwarded-for": address(10) },
        })
      ).json() as { data?: { a0: boolean | null }; errors?: { extensions: { code: string } }[] }[];

      const outcomes = ten.map(({ data, errors }) => errors?.[0]?.extensions.code ?? data?.a0);
      expect(outcomes.filter((outcome) => outcome === "RATE_LIMITED")).toHaveLength(5);
      expect(outcomes.filter((outcome) => outcome === false)).toHaveLength(5);
      expect(flood.status).toBe(400);
      expect(seven.errors[0]?.extensions.code).toBe("RATE_LIMITED");
      expect(batch.every(({ errors }) => errors?.length === 1)).toBe(true);
    });
  });

  describe("resetting a password", () => {
    it("[REQ-08] [REQ-32] allows 10 requests in an hour from one address", async () => {
      const { post } = accounts();

      const statuses: number[] = [];
      for (let n = 0; n < 11; n++)
        statuses.push((await post("/password/reset", { email: `u${n}@example.org` }, address(20))).status);

      expect(statuses).toEqual([...Array.from({ length: 10 }, () => 202), 429]);
    });

    it("[REQ-09] [REQ-32] [auth:AU-138] sends three emails in an hour to one account, and always returns the same response", async () => {
      const { post, mails } = accounts();
      await post("/register", ann);

      const answers = [];
      for (let n = 0; n < 20; n++) {
        answers.push(await post("/password/reset", { email: ann.email }, address(30 + n)));
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
      await new Promise((resolve) => setTimeout(resolve, 50));

      expect(new Set(answers.map((answer) => `${answer.status} ${answer.text()}`)).size).toBe(1);
      expect(mails.filter(({ kind }) => kind === "reset")).toHaveLength(3);
      expect(tokenOf(mails, "reset")).toHaveLength(43);
    });

    it("sends three emails in an hour to a new address, from any number of accounts", async () => {
      const { post, mails, users, session } = accounts();
      const changes = () => mails.filter(({ kind }) => kind === "change_email");
      for (const [from, name] of ["one", "two", "three"].entries()) {
        await users.objects.createUser({ email: `${name}@example.org`, username: name, password });
        const headers = await session(name);
        for (const email of ["target@example.org", "Target@Example.org"])
          expect((await post("/email", { email }, address(60 + from), headers)).status).toBe(202);
      }

      await vi.waitFor(() => expect(changes()).toHaveLength(3), 60_000);
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect(changes()).toHaveLength(3);
    });

    it("sends three notices of a new password in an hour to an unverified address, and all of them to a verified one", async () => {
      const { post, mails, users, session } = accounts();
      await post("/register", ann);
      const change = async (from: string, to: string) => {
        const headers = await session(ann.email, from);
        expect(
          (await post("/password", { current_password: from, new_password: to }, address(80), headers)).status,
        ).toBe(204);
      };
      const notices = () => mails.filter(({ kind }) => kind === "password_changed").length;
      const words = Array.from({ length: 6 }, (_, n) => `a good password ${n}`);

      await change(password, words[0] as string);
      for (let n = 1; n < 5; n++) await change(words[n - 1] as string, words[n] as string);
      await vi.waitFor(() => expect(notices()).toBe(3), 60_000);
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect(notices()).toBe(3);
      const user = await users.objects.get({ email: ann.email });
      if (user !== null) await users.objects.markVerified(user);
      await change(words[4] as string, words[5] as string);

      await vi.waitFor(() => expect(notices()).toBe(4), 60_000);
    });
  });

  describe("refreshing tokens", () => {
    const signedIn = async () => {
      const harness = accounts();
      await harness.post("/register", ann);
      const pair = async (n: number): Promise<string> => {
        const answer = await harness.post("/token", { identifier: "ann", password }, address(n));
        return (answer.json() as { refresh_token: string }).refresh_token;
      };
      const turn = async (token: string, n: number): Promise<{ status: number; token: string }> => {
        const answer = await harness.post("/refresh", { refresh_token: token }, address(n));
        return { status: answer.status, token: (answer.json() as { refresh_token?: string }).refresh_token ?? token };
      };
      return { ...harness, pair, turn };
    };

    it("[REQ-33] [auth:AU-139] rotates a family 10 times in a minute, and does not revoke it for more", async () => {
      const { pair, turn } = await signedIn();
      let token = await pair(40);

      for (let n = 0; n < 10; n++) {
        const next = await turn(token, 40 + n);
        expect(next.status).toBe(200);
        token = next.token;
      }
      const over = await turn(token, 60);
      expect(over.status).toBe(429);
    });

    it("[REQ-11] rotates the families of an account 60 times in a minute in total", async () => {
      const { pair, turn } = await signedIn();
      const tokens: string[] = [];
      for (let n = 0; n < 7; n++) tokens.push(await pair(70 + n));

      const statuses: number[] = [];
      for (const [index, first] of tokens.entries()) {
        let token = first;
        for (let n = 0; n < 9; n++) {
          const next = await turn(token, 80 + index);
          statuses.push(next.status);
          token = next.token;
        }
      }

      expect(statuses.indexOf(429)).toBe(60);
    });

    it("[REQ-10] [REQ-33] [auth:AU-139] allows 600 refreshes in a minute from one address", async () => {
      const { turn } = await signedIn();

      const statuses = await Promise.all(Array.from({ length: 601 }, () => turn("prt_none", 90)));

      expect(statuses.filter(({ status }) => status === 429)).toHaveLength(1);
      expect(statuses.filter(({ status }) => status === 401)).toHaveLength(600);
    });
  });
});

it("[REQ-33] [auth:AU-139] does not revoke a family that was rotated too often, which works again after a minute", async () => {
  const { app, post, events } = accountHarness();
  await post("/register", ann);
  const pair = (await post("/token", { identifier: "ann", password })).json() as { refresh_token: string };
  const turn = () => post("/refresh", { refresh_token: pair.refresh_token });
  const statuses: number[] = [];
  for (let n = 0; n < 12; n++) statuses.push((await turn()).status);

  await resetLimits(app);

  expect(statuses).toEqual([...Array.from({ length: 10 }, () => 200), 429, 429]);
  const next = (await turn()).json() as { refresh_token: string };
  expect((await post("/refresh", { refresh_token: next.refresh_token })).status).toBe(200);
  expect(events.some(({ kind }) => kind === "token_reused")).toBe(false);
});

it.each(["development", "test", "production"])(
  "[auth:AU-140] limits in %s as everywhere, until a test forgets what was counted",
  async (environment) => {
    vi.stubEnv("NODE_ENV", environment);
    const { app, post } = accountHarness(refusing);
    const attempts = async (): Promise<readonly number[]> => {
      const statuses: number[] = [];
      for (let n = 0; n < 6; n++) statuses.push((await post("/login", { identifier: "ann", password: wrong })).status);
      return statuses;
    };

    const first = await attempts();
    await resetLimits(app);
    const second = await attempts();
    vi.unstubAllEnvs();

    expect(first).toEqual([401, 401, 401, 401, 401, 429]);
    expect(second).toEqual(first);
    await expect(resetLimits(accountHarness({ stores: foreign() }).app)).rejects.toThrow(
      "requires a counter store with resetAll()",
    );
  },
);

/** Stores with custom counters. */
function foreign(): Stores {
  const counters: CounterStore = { increment: async () => ({ value: 1, resetAfterMs: 1 }), reset: async () => {} };
  return { ...memoryStores(), counters };
}

it("[auth:AU-137] keeps a caller blocked while a million others are counted, within bounded memory", async () => {
  const { counters } = memoryStores();
  const blocked = Array.from({ length: 50 }, (_, n) => `blocked ${n}`);
  for (const key of blocked) for (let n = 0; n < 6; n++) await counters.increment(key, 900_000);
  const count = async (from: number, to: number): Promise<void> => {
    for (let n = from; n < to; n++) await counters.increment(`other ${n}`, 900_000);
  };
  await count(0, 150_000);
  const before = await heapAfterCollection();

  await count(150_000, 1_000_000);

  const grown = (await heapAfterCollection()) - before;
  for (const key of blocked) expect((await counters.increment(key, 900_000)).value).toBe(7);
  // 850,000 counters more would be hundreds of MB.
  expect(grown).toBeLessThan(20_000_000);
});
