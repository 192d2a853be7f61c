import { redisStores } from "portico/redis";
import { migrate, openDatabase, sqlStores, userModel } from "portico/sql";
import { type LiveClient, liveClient, logCatcher } from "portico/testing";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type OwnPostgres, ownPostgres } from "../../../../lab/servers/own-postgres.ts";
import { RedisServer } from "../../../../lab/servers/redis-server.ts";
import { cookieHeader } from "../../../sign-in.ts";
import { migratedPlace } from "../../../sql/accounts/databases.ts";
import { startTraffic } from "../../../traffic.ts";
import { accountHarness, ann, owned, password } from "../account-harness.ts";

let server: OwnPostgres;
beforeAll(async () => {
  server = await ownPostgres();
});
afterAll(() => server?.remove());

interface Answer {
  readonly status: number;
  readonly cookies: readonly string[];
  readonly retryAfter: unknown;
}

it("never treats a signed-in user as anonymous while PostgreSQL restarts under load, and recovers by itself", async () => {
  const database = openDatabase(server.url, { poolSize: 6, timeoutSeconds: 2 });
  await migrate(database, "up");
  const log = logCatcher();
  const harness = accountHarness({
    ...owned,
    users: userModel(database),
    stores: sqlStores(database),
    app: { logger: log },
  });
  const client = await liveClient(harness.app);
  const { post, session, pair } = await signedIn(client);
  const { key } = (await post("/keys", {}, session)).json() as { key: string };
  const credentials = [session, { authorization: `Bearer ${pair["access_token"]}` }, { "x-api-key": key }];
  const traffic = startTraffic(async (request): Promise<Answer> => {
    const headers = credentials[request % credentials.length] ?? {};
    const { status, cookies, headers: told } = await client.get("/account/me", { headers });
    return { status, cookies, retryAfter: told["retry-after"] };
  });
  await traffic.until(100, ({ status }) => status === 200);

  await server.kill();
  const [wrong, right, refresh, reset] = await Promise.all([
    post("/login", { identifier: "ann", password: "wrong password" }),
    post("/login", { identifier: "ann", password }),
    post("/refresh", { refresh_token: pair["refresh_token"] }),
    post("/password/reset", { email: ann.email }),
  ]);
  await traffic.until(50, ({ status }) => status === 503);
  await server.start();
  await expect.poll(async () => (await traffic.next(50)).every(({ status }) => status === 200)).toBe(true);
  const answers = await traffic.stop();

  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 503]));
  expect(answers.filter(({ cookies }) => cookies.length > 0)).toEqual([]);
  expect(answers.filter(({ status, retryAfter }) => status === 503 && retryAfter === undefined)).toEqual([]);
  // A user who could not be loaded is not rejected with 401, and the refresh token stays valid.
  expect([wrong.status, right.status, refresh.status, reset.status]).toEqual([503, 503, 503, 202]);
  for (const headers of credentials) expect((await client.get("/account/me", { headers })).status).toBe(200);
  expect((await post("/refresh", { refresh_token: pair["refresh_token"] })).status).toBe(200);
  expect(log.text).not.toContain(password);
  await client.close();
  await database.destroy();
});

it("rejects no user with 401 while Redis is down, counts limits in the process, and then continues with the stored data", async () => {
  const redis = await RedisServer.start(["--appendonly", "yes", "--appendfsync", "always"]);
  const place = await migratedPlace("SQLite");
  const stores = redisStores(redis.url, { timeoutSeconds: 0.5 });
  const client = await liveClient(accountHarness({ users: userModel(place.open()), stores }).app);
  const { post, session, pair } = await signedIn(client);
  const me = async (headers: Readonly<Record<string, string>>): Promise<number> =>
    (await client.get("/account/me", { headers })).status;

  await redis.kill();
  const away = {
    session: await me(session),
    token: await me({ authorization: `Bearer ${pair["access_token"]}` }),
    login: await post("/login", { identifier: "ann", password }),
    refresh: await post("/refresh", { refresh_token: pair["refresh_token"] }),
  };
  const guesses: number[] = [];
  for (let n = 0; n < 7; n++) guesses.push((await post("/login", { identifier: "bob", password: "wrong" })).status);
  await redis.start();
  await expect.poll(() => me(session)).toBe(200);
  const refreshed = await post("/refresh", { refresh_token: pair["refresh_token"] });

  // It is unknown whether the device of a token was signed out.
  expect([away.session, away.token, away.login.status, away.refresh.status]).toEqual([503, 503, 503, 503]);
  expect(away.login.cookies).toEqual([]);
  expect(guesses).toEqual([401, 401, 401, 401, 401, 429, 429]);
  expect(refreshed.status).toBe(200);
  await client.close();
  await place.remove();
  await redis.remove();
});

/** A user with a session and tokens. */
async function signedIn(client: LiveClient) {
  const post = (path: string, body: object, headers: Readonly<Record<string, string>> = {}) =>
    client.post(`/account${path}`, { body, headers });
  await post("/register", ann);
  const login = await post("/login", { identifier: "ann", password });
  const session = cookieHeader(login);
  const pair = (await post("/token", { identifier: "ann", password })).json() as Record<string, string>;
  return { post, session, pair };
}
