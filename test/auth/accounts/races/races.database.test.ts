import { expect, it, vi } from "vitest";
import { cookieHeader } from "../../../sign-in.ts";
import type { AccountHarness } from "../account-harness.ts";
import { ann, password, tokenOf } from "../account-harness.ts";
import { accountsIn } from "../account-places.ts";

const MANY = 50;
const many = <T>(work: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: MANY }, (_, n) => work(n)));
const address = (n: number): string => `198.51.100.${n + 1}`;
const later = (check: () => void): Promise<void> => vi.waitFor(check, { timeout: 60_000, interval: 10 });

/** How often each of them was there. */
function tally(values: readonly unknown[]): Readonly<Record<string, number>> {
  return Object.fromEntries(
    Map.groupBy(values.map(String), (value) => value)
      .entries()
      .map(([v, all]) => [v, all.length]),
  );
}

type Answer = Awaited<ReturnType<AccountHarness["post"]>>;
const statusesOf = (answers: readonly Answer[]) => tally(answers.map(({ status }) => status));

accountsIn(["PostgreSQL and Redis"], (accounts) => {
  it("starts a separate session for each of 50 concurrent sign-ins", async () => {
    const { post, client } = accounts();
    await post("/register", ann);

    const answers = await many((n) => post("/login", { identifier: "ann", password }, address(n)));

    expect(statusesOf(answers)).toEqual({ 200: MANY });
    const cookies = answers.map(cookieHeader);
    expect(new Set(cookies.map(({ cookie }) => cookie)).size).toBe(MANY);
    const mine = await Promise.all(cookies.map((headers) => client.get("/account/me", { headers })));
    expect(statusesOf(mine)).toEqual({ 200: MANY });
    const listed = (await client.get("/account/sessions", cookies[0] ? { headers: cookies[0] } : {})).json();
    expect(listed).toHaveLength(MANY);
  });

  it("returns one successor for 50 concurrent refreshes, up to the limit, and revokes no family", async () => {
    const { post, events } = accounts();
    await post("/register", ann);
    const pair = async (): Promise<string> =>
      ((await post("/token", { identifier: "ann", password })).json() as { refresh_token: string }).refresh_token;
    const refresh = (refresh_token: string, n: number) => post("/refresh", { refresh_token }, address(n));
    const successors = (answers: readonly Answer[]): ReadonlySet<unknown> =>
      new Set(
        answers.filter(({ status }) => status === 200).map((answer) => (answer.json() as never)["refresh_token"]),
      );
    const [first, second] = [await pair(), await pair()];

    const flood = await many((n) => refresh(first, n));
    const nine = await Promise.all(Array.from({ length: 9 }, (_, n) => refresh(second, n)));
    const [successor] = successors(nine) as ReadonlySet<string>;
    const next = await refresh(successor ?? "", 1);

    expect(statusesOf(flood)).toEqual({ 200: 10, 429: MANY - 10 });
    expect(successors(flood).size).toBe(1);
    expect(statusesOf(nine)).toEqual({ 200: 9 });
    expect([successors(nine).size, next.status]).toEqual([1, 200]);
    expect(events.filter(({ kind }) => kind === "token_reused")).toEqual([]);
  });

  it("lets one of 50 password changes win, and revokes every earlier sign-in", async () => {
    const { post, client, session, users } = accounts();
    await post("/register", ann);
    const headers = await session();

    const answers = await many((n) =>
      post("/password", { current_password: password, new_password: `the new password ${n}` }, address(n), headers),
    );

    const winner = answers.findIndex(({ status }) => status === 204);
    // The sign-in before was one of the 50 attempts that an account has.
    expect(statusesOf(answers)).toEqual({ 204: 1, 401: MANY - 2, 429: 1 });
    const passwords = await many((n) => users.objects.authenticate("ann", `the new password ${n}`));
    expect(passwords.flatMap((user, n) => (user === null ? [] : [n]))).toEqual([winner]);
    expect(await users.objects.authenticate("ann", password)).toBeNull();
    expect((await client.get("/account/me", { headers })).status).toBe(401);
    expect((await client.get("/account/me", { headers: cookieHeader(answers[winner] as Answer) })).status).toBe(200);
  });

  it("lets no sign-in with the old password outlive a password change, whichever is faster", async () => {
    const { post, client, session } = accounts();
    await post("/register", ann);
    const headers = await session();

    const body = { current_password: password, new_password: "the new password" };
    const [change, ...logins] = await Promise.all([
      post("/password", body, address(99), headers),
      ...Array.from({ length: 30 }, (_, n) => post("/login", { identifier: "ann", password }, address(n))),
    ]);

    expect(change.status).toBe(204);
    const entered = logins.filter(({ status }) => status === 200).map(cookieHeader);
    const after = await Promise.all(entered.map((cookie) => client.get("/account/me", { headers: cookie })));
    expect(logins.every(({ status }) => status === 200 || status === 401)).toBe(true);
    expect(statusesOf(after)).toEqual(entered.length === 0 ? {} : { 401: entered.length });
  });

  it("[auth:AU-118] creates one user for 50 registrations with one address, returns the same response to all, and sends its owner three emails", async () => {
    const { post, users, mails, events } = accounts();

    const answers = await many((n) => post("/register", { ...ann, username: `ann${n}` }, address(n)));
    const named = await many((n) =>
      post("/register", { email: `${n}@example.org`, username: "bob", password }, address(n)),
    );

    expect(statusesOf(answers)).toEqual({ 202: MANY });
    expect(new Set(answers.map((answer) => answer.text())).size).toBe(1);
    expect(statusesOf(named)).toEqual({ 202: 1, 409: MANY - 1 });
    const found = await many((n) => users.objects.get({ username: `ann${n}` }));
    expect(found.filter((user) => user !== null)).toHaveLength(1);
    await later(() => expect(events.filter(({ kind }) => kind === "registration_repeated")).toHaveLength(MANY - 1));
    await later(() => expect(mails.filter(({ kind }) => kind === "already_registered")).toHaveLength(3));
  });

  it("[auth:AU-144] lets one of 50 uses of a reset link win", async () => {
    const { post, mails, users } = accounts();
    await post("/register", ann);
    await post("/password/reset", { email: ann.email });
    await later(() => expect(mails).toHaveLength(1));
    const token = tokenOf(mails, "reset");

    const answers = await many((n) =>
      post("/password/reset/confirm", { token, password: `the new password ${n}` }, address(n)),
    );

    expect(statusesOf(answers)).toEqual({ 204: 1, 400: MANY - 1 });
    const winner = answers.findIndex(({ status }) => status === 204);
    expect(await users.objects.authenticate("ann", `the new password ${winner}`)).not.toBeNull();
  });
});
