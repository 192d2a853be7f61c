import { equal } from "node:assert/strict";
import { type Arbitrary, type AsyncCommand, boolean, constantFrom, nat, tuple } from "fast-check";
import type { ManualClock, TestResponse } from "portico/testing";
import { codeAt } from "../../../scripts/clients/authenticator-app.ts";
import { type AccountHarness, password } from "../accounts/account-harness.ts";

/** The account as it should be. */
interface Account {
  hasPassword: boolean;
  secret: string | null;
  sub: string | null;
  isDisabled: boolean;
}

/** A session as it should be. */
interface Session {
  cookie: string;
  readonly owner: string;
  isStrong: boolean;
  isAlive: boolean;
}

export interface Model {
  /** By email address. */
  readonly accounts: Map<string, Account>;
  readonly sessions: Session[];
}

export interface Real {
  readonly clock: ManualClock;
  /** Two processes with the same stores. */
  readonly processes: readonly AccountHarness[];
}

type Step = (model: Model, real: Real, at: AccountHarness) => Promise<void>;
type Command = AsyncCommand<Model, Real>;

const names = ["ann@example.org", "bob@example.org"] as const;
const subs = ["s1", "s2", "s3"] as const;
const emailOf = (sub: string): string => `${sub}@provider.example`;
let requests = 0;

/** Everything that can happen to accounts. Each happens on one of the processes, and then all sessions are checked. */
export const happenings: Arbitrary<Command>[] = [
  on(constantFrom(...names), "register", (name) => register(name)),
  on(tuple(constantFrom(...names, ...subs.map(emailOf)), boolean()), "login", ([name, isRight]) =>
    login(name, isRight),
  ),
  on(nat(3), "enrol", (index) => withSession(index, enrol)),
  on(nat(3), "step up", (index) => withSession(index, stepUp)),
  on(tuple(nat(3), constantFrom(...subs)), "link", ([index, sub]) =>
    withSession(index, (m, r, at, s) => link(m, r, at, s, sub)),
  ),
  on(nat(3), "unlink", (index) => withSession(index, unlink)),
  on(constantFrom(...subs), "sign in with the provider", (sub) => providerSignIn(sub)),
  on(constantFrom(...names), "lock", (name) => lock(name, true)),
  on(constantFrom(...names), "unlock", (name) => lock(name, false)),
  on(nat(3), "log out", (index) => withSession(index, logout)),
  on(nat(3), "log out everywhere", (index) => withSession(index, logoutEverywhere)),
];

function on<T>(values: Arbitrary<T>, title: string, step: (value: T) => Step): Arbitrary<Command> {
  return tuple(values, nat(1)).map(([value, place]) => ({
    check: () => true,
    async run(model, real) {
      await step(value)(model, real, real.processes[place] as AccountHarness);
      await checkSessions(model, real);
      checkWaysIn(model);
    },
    toString: () => `${title} ${JSON.stringify(value)} on ${place}`,
  }));
}

/** Works on one of the newest live sessions, if there is one. */
function withSession(
  index: number,
  step: (model: Model, real: Real, at: AccountHarness, session: Session) => Promise<void>,
): Step {
  return async (model, real, at) => {
    const alive = model.sessions.filter(({ isAlive }) => isAlive);
    const session = alive[index % Math.max(1, alive.length)];
    if (session !== undefined) await step(model, real, at, session);
  };
}

const register =
  (email: string): Step =>
  async ({ accounts }, _real, at) => {
    equal((await post(at, "/register", { email, password })).status, 202);
    if (!accounts.has(email)) accounts.set(email, { hasPassword: true, secret: null, sub: null, isDisabled: false });
  };

const login =
  (email: string, isRight: boolean): Step =>
  async (model, real, at) => {
    const account = model.accounts.get(email);
    const answer = await post(at, "/login", { identifier: email, password: isRight ? password : "not the password" });
    if (!isRight || account === undefined || !account.hasPassword || account.isDisabled)
      return equal(answer.status, 401);
    await complete(model, real, at, email, { answer, pending: (answer.json() as { pending?: string }).pending });
  };

const providerSignIn =
  (sub: string): Step =>
  async (model, real, at) => {
    const { answer, cookie } = await throughProvider(at, sub, await at.client.get("/account/providers/fake"), "");
    const arrived = new URL(answer.headers["location"] ?? "", "https://shop.example");
    const owner = [...model.accounts].find(([, account]) => account.sub === sub)?.[0];
    const email = owner ?? emailOf(sub);
    const error = arrived.searchParams.get("error");
    if (owner === undefined && model.accounts.has(email)) return equal(error, "provider_link_required");
    if (owner === undefined) model.accounts.set(email, { hasPassword: false, secret: null, sub, isDisabled: false });
    else if (model.accounts.get(owner)?.isDisabled === true) return equal(error, "account_disabled");
    const pending = new URLSearchParams(arrived.hash.slice(1)).get("pending") ?? undefined;
    await complete(model, real, at, email, { answer, pending, cookie });
  };

/** Completes a sign-in, with the second factor if the model says that there is one. */
async function complete(
  { accounts, sessions }: Model,
  { clock }: Real,
  at: AccountHarness,
  owner: string,
  { answer, pending, cookie }: { answer: TestResponse; pending: string | undefined; cookie?: string },
): Promise<void> {
  const { secret } = accounts.get(owner) as Account;
  equal(pending !== undefined, secret !== null);
  if (secret === null || pending === undefined) {
    const own = cookie ?? sessionOf(answer);
    sessions.push({ cookie: own, owner, isStrong: false, isAlive: true });
    return;
  }
  const proved = await post(at, "/second-factor", { pending, code: nextCode(clock, secret) });
  equal(proved.status, 200);
  sessions.push({ cookie: sessionOf(proved), owner, isStrong: true, isAlive: true });
}

async function enrol(
  { accounts, sessions }: Model,
  { clock }: Real,
  at: AccountHarness,
  session: Session,
): Promise<void> {
  const account = accounts.get(session.owner) as Account;
  const begun = await post(at, "/factors/totp", {}, session.cookie);
  if (account.secret !== null && !session.isStrong) return equal(begun.status, 403);
  if (account.secret !== null) return;
  const { secret } = begun.json() as { secret: string };
  const confirmed = await post(at, "/factors/totp/confirm", { code: nextCode(clock, secret) }, session.cookie);
  equal(confirmed.status, 200);
  account.secret = secret;
  raise(sessions, session, confirmed);
}

async function stepUp(
  { accounts, sessions }: Model,
  { clock }: Real,
  at: AccountHarness,
  session: Session,
): Promise<void> {
  const { secret } = accounts.get(session.owner) as Account;
  const proved = await post(
    at,
    "/second-factor",
    { code: secret === null ? "123456" : nextCode(clock, secret) },
    session.cookie,
  );
  equal(proved.status, secret === null ? 401 : 200);
  if (secret !== null) raise(sessions, session, proved);
}

/** The session goes on under a new id, and the old one is dead. */
function raise(sessions: Session[], session: Session, answer: TestResponse): void {
  sessions.push({ ...session, isAlive: false });
  Object.assign(session, { cookie: sessionOf(answer), isStrong: true });
}

async function link(
  { accounts }: Model,
  _real: Real,
  at: AccountHarness,
  session: Session,
  sub: string,
): Promise<void> {
  const begun = await post(at, "/providers/fake/link", {}, session.cookie);
  const { answer } = await throughProvider(at, sub, begun, session.cookie);
  const error = new URL(answer.headers["location"] ?? "", "https://shop.example").searchParams.get("error");
  const account = accounts.get(session.owner) as Account;
  const isTaken = [...accounts].some(([email, other]) => email !== session.owner && other.sub === sub);
  const isRefused = isTaken || (account.sub !== null && account.sub !== sub);
  equal(error !== null, isRefused, `${error}`);
  if (!isRefused) account.sub = sub;
}

async function unlink({ accounts }: Model, _real: Real, at: AccountHarness, session: Session): Promise<void> {
  const account = accounts.get(session.owner) as Account;
  const { status } = await at.client.delete("/account/providers/fake", { headers: { cookie: session.cookie } });
  equal(status, account.sub === null ? 404 : account.hasPassword ? 204 : 409);
  if (status === 204) account.sub = null;
}

const lock =
  (email: string, isDisabled: boolean): Step =>
  async ({ accounts, sessions }, _real, { users }) => {
    const account = accounts.get(email);
    const user = await users.objects.get({ email });
    if (account === undefined || user === null) return;
    await (isDisabled ? users.objects.disable(user) : users.objects.enable(user));
    account.isDisabled = isDisabled;
    if (isDisabled) endAll(sessions, email);
  };

async function logout(_model: Model, _real: Real, at: AccountHarness, session: Session): Promise<void> {
  equal((await post(at, "/logout", {}, session.cookie)).status, 204);
  session.isAlive = false;
}

async function logoutEverywhere({ sessions }: Model, _real: Real, at: AccountHarness, session: Session): Promise<void> {
  equal((await post(at, "/logout/everywhere", {}, session.cookie)).status, 204);
  endAll(sessions, session.owner);
}

function endAll(sessions: readonly Session[], owner: string): void {
  for (const session of sessions) if (session.owner === owner) session.isAlive = false;
}

/** On both processes, every session must be of its owner, at its level, or dead. */
async function checkSessions({ sessions }: Model, { processes }: Real): Promise<void> {
  for (const { client } of processes)
    for (const { cookie, owner, isStrong, isAlive } of sessions.slice(-6)) {
      const headers = { cookie };
      const [me, strong] = [await client.get("/account/me", { headers }), await client.get("/strong", { headers })];
      equal(me.status, isAlive ? 200 : 401);
      if (isAlive) equal((me.json() as { email: string }).email, owner);
      equal(strong.status, isAlive ? (isStrong ? 200 : 403) : 401);
    }
}

function checkWaysIn({ accounts }: Model): void {
  for (const { hasPassword, sub } of accounts.values()) equal(hasPassword || sub !== null, true);
}

/** Comes back from the provider, in the browser that began. Returns the response, and the cookie of its session. */
async function throughProvider(
  at: AccountHarness,
  sub: string,
  begun: TestResponse,
  session: string,
): Promise<{ readonly answer: TestResponse; readonly cookie: string }> {
  const url = new URL(begun.headers["location"] ?? (begun.json() as { url: string }).url);
  const cookie = [session, ...begun.cookies.map((text) => text.split(";")[0] ?? "")]
    .filter((text) => text !== "")
    .join("; ");
  const path = `/account/providers/fake/callback?state=${url.searchParams.get("state")}&code=${sub}`;
  const answer = await at.client.get(path, { headers: { cookie } });
  return { answer, cookie: sessionOf(answer) };
}

function post(at: AccountHarness, path: string, body: object, cookie?: string): Promise<TestResponse> {
  // Each request has its own address, because limits count by address.
  const from = `10.${(++requests >> 16) & 255}.${(requests >> 8) & 255}.${requests & 255}`;
  return at.post(path, body, from, cookie === undefined ? {} : { cookie });
}

const sessionOf = ({ cookies }: TestResponse): string =>
  (cookies.find((cookie) => cookie.startsWith("__Host-portico_session=")) ?? "").split(";")[0] ?? "";

/** The code of the next step: each step is accepted once. */
function nextCode(clock: ManualClock, secret: string): string {
  clock.advance(60_000);
  return codeAt(secret, clock.now());
}
