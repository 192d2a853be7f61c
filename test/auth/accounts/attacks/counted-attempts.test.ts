import { type Count, type CounterStore, memoryStores, type Reservation } from "portico";
import { github } from "portico/auth";
import { expect, it, onTestFinished } from "vitest";
import { cookieHeader } from "../../../sign-in.ts";
import { type AccountHarness, accountHarness, ann, password } from "../account-harness.ts";
import { memoryUsers } from "../memory-users.ts";

/** Counters that note every limit, and count as many hits as a test says. */
class NotingCounters implements CounterStore {
  /** The name of each limit, with the number of attempts and the seconds. */
  readonly noted: string[] = [];
  /** The value that a limit has reached, by its name. */
  readonly reached: Record<string, number> = {};

  async increment(key: string, windowMs: number): Promise<Count> {
    const [, name = "", limit] = key.split(":");
    this.noted.push(`${name} ${limit}/${windowMs / 1000}`);
    return { value: this.reached[name] ?? 1, resetAfterMs: 1_500 };
  }
  async reserve(key: string, windowMs: number, _units: number, limit: number): Promise<Reservation> {
    const count = await this.increment(key, windowMs);
    return { ...count, isGranted: count.value <= limit, refund: async () => {} };
  }
  async reset(): Promise<void> {}
}

/** Passwords that are not hashed, because the tests sign in often. */
const plain = {
  hash: async (word: string) => word,
  verify: async (word: string, stored: string | null) => ({ isRight: word === stored, needsRehash: false }),
};

interface World extends AccountHarness {
  readonly counters: NotingCounters;
  readonly headers: Readonly<Record<string, string>>;
  readonly refreshToken: string;
}

async function world(): Promise<World> {
  const counters = new NotingCounters();
  const providers = [github({ clientId: "id", clientSecret: "secret" })];
  const harness = accountHarness({
    users: memoryUsers(plain),
    stores: { ...memoryStores(), counters },
    account: { providers, passkeys: { rpName: "Shop" }, signInMails: true },
  });
  onTestFinished(() => harness.app.close());
  await harness.users.objects.createUser(ann);
  const headers = await harness.session();
  const tokens = (await harness.post("/token", { identifier: "ann", password })).json() as { refresh_token: string };
  counters.noted.length = 0;
  return { ...harness, counters, headers, refreshToken: tokens.refresh_token };
}

type Call = (world: World) => Promise<{ readonly status: number; readonly headers: Record<string, unknown> }>;
const post =
  (path: string, body: object | ((world: World) => object) = {}): Call =>
  (made) =>
    made.post(path, typeof body === "function" ? body(made) : body, undefined, made.headers);

const LOGIN = [
  "login-address 20/300",
  "login-address 100/3600",
  "login-account-address 5/900",
  "login-account 50/900",
  "login-user-address 5/900",
  "login-user 50/900",
];

const ROUTES: readonly (readonly [name: string, limits: readonly string[], call: Call])[] = [
  ["a sign-in", LOGIN, post("/login", { identifier: "ann", password })],
  ["a sign-in with tokens", LOGIN, post("/token", { identifier: "ann", password })],
  [
    "a refresh",
    ["refresh-address 600/60", "refresh-family 10/60", "refresh-account 60/60"],
    post("/refresh", ({ refreshToken }) => ({ refresh_token: refreshToken })),
  ],
  ["a registration", ["register-address 10/3600"], post("/register", { email: "bob@example.org", password })],
  [
    "a registration of a known address",
    ["register-address 10/3600", "mail-caller 60/3600", "register-mails 3/3600"],
    post("/register", { email: ann.email, password }),
  ],
  [
    "a request for a reset",
    ["reset-address 10/3600", "mail-caller 60/3600", "reset-mails 3/3600", "reset-mails-valid 1/1800"],
    post("/password/reset", { email: ann.email }),
  ],
  [
    "a reset for an unknown address",
    ["reset-address 10/3600"],
    post("/password/reset", { email: "unknown@example.org" }),
  ],
  ["a reset", ["reset-confirm 10/3600"], post("/password/reset/confirm", { token: "x", password })],
  ["a new password", LOGIN, post("/password", { current_password: "wrong", new_password: "a much better one" })],
  [
    "a request to verify",
    ["verify-address 10/3600", "mail-caller 60/3600", "verify-mails 3/3600", "verify-mails-valid 1/1800"],
    post("/verify/request", { email: ann.email }),
  ],
  ["a verification", ["verify-confirm 10/3600"], post("/verify", { token: "x" })],
  [
    "a change of the address",
    ["email-address 10/3600", "email-mails 3/3600", "mail-caller 60/3600", "email-recipient 3/3600"],
    post("/email", { email: "new@example.org" }),
  ],
  ["a confirmed change", ["email-confirm 10/3600"], post("/email/confirm", { token: "x" })],
  [
    "a request to sign in by email",
    ["sign-in-mail-address 10/3600", "mail-caller 60/3600", "sign-in-mails 3/3600", "sign-in-mails-valid 1/600"],
    post("/sign-in-mail", { email: ann.email }),
  ],
  ["a sign-in by email", ["sign-in-mail-confirm 20/300"], post("/sign-in-mail/confirm", { code: "00000000" })],
  ["a second factor", ["second-factor-address 20/300", "second-factor 5/900"], post("/second-factor", { code: "0" })],
  ["a passkey as second factor", ["passkey-options 100/300"], post("/second-factor/options")],
  ["the options of a passkey", ["passkey-options 100/300"], post("/passkeys/sign-in/options")],
  ["a sign-in with a passkey", ["passkey-sign-in 20/300"], post("/passkeys/sign-in", { credential: {} })],
  [
    "a sign-in with a provider",
    ["provider-address 100/600"],
    ({ client, headers }) => client.get("/account/providers/github", { headers }),
  ],
  ["a link to a provider", ["provider-address 100/600"], post("/providers/github/link")],
  ["a logout by a provider", ["provider-logout 600/60"], post("/providers/github/backchannel-logout")],
];

it.each(ROUTES)("%s counts against %j", async (_, limits, call) => {
  const made = await world();
  await call(made);
  await made.app.close();

  expect(made.counters.noted).toEqual(limits);
});

const FIRST = ROUTES.map(([name, [limit = ""], call]) => [name, limit, call] as const);

it.each(FIRST)("%s is rejected with 429 beyond %s", async (_, limit, call) => {
  const made = await world();
  const [name = "", most] = limit.split(/[ /]/);
  made.counters.reached[name] = Number(most);
  expect((await call(made)).status).not.toBe(429);
  made.counters.reached[name] = Number(most) + 1;
  const refused = await call(made);

  expect([refused.status, refused.headers["retry-after"]]).toEqual([429, "2"]);
});

it("a wrong code of an email counts against its browser too", async () => {
  const { post: send, counters, mails } = await world();
  const { cookie } = cookieHeader(await send("/sign-in-mail", { email: ann.email }));
  await expect.poll(() => mails).toHaveLength(1);
  counters.noted.length = 0;
  const confirm = () => send("/sign-in-mail/confirm", { code: "0" }, undefined, { cookie });
  counters.reached["sign-in-mail-browser"] = 5;
  expect((await confirm()).status).toBe(400);
  expect(counters.noted).toEqual(["sign-in-mail-confirm 20/300", "sign-in-mail-browser 5/600"]);
  counters.reached["sign-in-mail-browser"] = 6;
  expect((await confirm()).status).toBe(429);
});

it.each([
  ["a reset", "reset-mails", post("/password/reset", { email: ann.email })],
  ["a verification", "verify-mails", post("/verify/request", { email: ann.email })],
  ["a sign-in", "sign-in-mails", post("/sign-in-mail", { email: ann.email })],
] as const)(
  "an email for %s is sent beyond three in an hour when the newest link has expired",
  async (_, limit, call) => {
    const made = await world();
    Object.assign(made.counters.reached, { [limit]: 40, [`${limit}-valid`]: 1 });
    expect((await call(made)).status).toBe(202);
    await made.app.close();

    expect(made.mails).toHaveLength(1);
  },
);

it("a caller sends at most 60 emails to strangers in an hour", async () => {
  const made = await world();
  made.counters.reached["mail-caller"] = 61;
  await made.post("/password/reset", { email: ann.email });
  await made.post("/register", { email: ann.email, password });
  await made.app.close();

  expect(made.mails).toEqual([]);
});

const MAILS = ROUTES.flatMap(([name, limits, call]) =>
  limits.filter((limit) => limit.endsWith(" 3/3600")).map((limit) => [name, limit.split(" ")[0] ?? "", call] as const),
);

it.each(MAILS)("%s sends the third email of an hour, and not the fourth: %s", async (_, limit, call) => {
  for (const [value, valid, count] of [
    [3, 2, 1],
    [4, 2, 0],
  ] as const) {
    const made = await world();
    Object.assign(made.counters.reached, { [limit]: value, [`${limit}-valid`]: valid });
    expect((await call(made)).status).toBe(202);
    await made.app.close();

    expect(made.mails).toHaveLength(count);
  }
});
