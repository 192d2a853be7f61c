import { userModel } from "portico/sql";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { newPrefix, SHARED_URL } from "../../../../lab/servers/redis-server.ts";
import { removeKeys } from "../../../redis/remove-keys.ts";
import { migratedPlace, type Place } from "../../../sql/accounts/databases.ts";
import { ann, password } from "../account-harness.ts";
import { type AccountProcess, accountProcess } from "./account-process.ts";

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

let place: Place;
let prefix: string;
const running: AccountProcess[] = [];
beforeAll(async () => {
  place = await migratedPlace("PostgreSQL");
  prefix = newPrefix();
  await userModel(place.open()).objects.createUser(ann);
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((process) => process.close()));
  await removeKeys(prefix);
});
afterAll(() => place?.remove());

async function start(dies?: "before" | "after"): Promise<AccountProcess> {
  const process = await accountProcess({ database: place.url, redis: SHARED_URL, prefix }, dies);
  running.push(process);
  return process;
}
const startTwo = () => Promise.all([start(), start()]);
const login = { identifier: "ann", password };
const me = async (process: AccountProcess, headers: Readonly<Record<string, string>>): Promise<number> =>
  (await process.ask("/account/me", { headers })).status;

it("counts the attempts of two processes with one Redis together", async () => {
  const both = await startTwo();
  const turns = async (count: number, attempt: (process: AccountProcess, n: number) => Promise<{ status: number }>) => {
    const statuses: number[] = [];
    for (let n = 0; n < count; n++) statuses.push((await attempt(both[n % 2] as AccountProcess, n)).status);
    return statuses;
  };

  const byBoth = await turns(7, (process) =>
    process.ask("/account/login", { body: { ...login, password: "wrong password" }, from: "198.51.100.1" }),
  );
  const byAddress = await turns(21, (process, n) =>
    process.ask("/account/login", { body: { identifier: `u${n}`, password: "wrong password" }, from: "198.51.100.2" }),
  );
  const resets = await turns(11, (process) =>
    process.ask("/account/password/reset", { body: { email: "nobody@example.org" }, from: "198.51.100.3" }),
  );

  expect(byBoth).toEqual([401, 401, 401, 401, 401, 429, 429]);
  expect(byAddress).toEqual([...Array.from({ length: 20 }, () => 401), 429]);
  expect(resets).toEqual([...Array.from({ length: 10 }, () => 202), 429]);
});

it("rejects a credential that another process has revoked with the next request", async () => {
  const [one, two] = await startTwo();
  const session = async (): Promise<Readonly<Record<string, string>>> => ({
    cookie: (await one.ask("/account/login", { body: login })).cookie,
  });
  const tokens = async () => (await one.ask("/account/token", { body: login })).body as Tokens;

  const [phone, laptop] = [await session(), await session()];
  const devices = (await two.ask("/account/sessions", { headers: laptop })).body as { id: string; current: boolean }[];
  const other = devices.find(({ current }) => !current)?.id;
  expect(await me(one, phone)).toBe(200);
  await two.ask(`/account/sessions/${other}`, { method: "DELETE", headers: laptop });
  expect([await me(one, phone), await me(one, laptop)]).toEqual([401, 200]);

  const { key, id } = (await one.ask("/account/keys", { body: {}, headers: laptop })).body as Record<string, string>;
  expect(await me(two, { "x-api-key": key ?? "" })).toBe(200);
  await one.ask(`/account/keys/${id}`, { method: "DELETE", headers: laptop });
  expect(await me(two, { "x-api-key": key ?? "" })).toBe(401);

  const pair = await tokens();
  const bearer = { authorization: `Bearer ${pair.access_token}` };
  expect([await me(one, bearer), await me(two, bearer)]).toEqual([200, 200]);
  await two.ask("/account/logout/everywhere", { body: {}, headers: laptop });
  expect([await me(one, bearer), await me(one, laptop), await me(two, bearer)]).toEqual([401, 401, 401]);
  expect((await one.ask("/account/refresh", { body: { refresh_token: pair.refresh_token } })).status).toBe(401);
});

it.each(["before", "after"] as const)(
  "[BCK-41] lets the client try again when a process was killed %s a refresh token was turned, and ends no family",
  async (dies) => {
    const [mortal, other] = await Promise.all([start(dies), start()]);
    const { refresh_token } = (await mortal.ask("/account/token", { body: login })).body as Tokens;

    await expect(mortal.ask("/account/refresh", { body: { refresh_token } })).rejects.toThrow("fetch failed");
    expect(await mortal.isDead).toBe("SIGKILL");
    const again = await other.ask("/account/refresh", { body: { refresh_token } });
    const twice = await other.ask("/account/refresh", { body: { refresh_token } });
    const next = await other.ask("/account/refresh", {
      body: { refresh_token: (again.body as Tokens).refresh_token },
    });

    expect([again.status, twice.status, next.status]).toEqual([200, 200, 200]);
    expect((twice.body as Tokens).refresh_token).toBe((again.body as Tokens).refresh_token);
    expect(other.events).not.toContain("token_reused");
    expect(await me(other, { authorization: `Bearer ${(next.body as Tokens).access_token}` })).toBe(200);
  },
  60_000,
);
