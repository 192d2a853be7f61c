import { memoryStores, PorticoApp } from "portico";
import { type AccountEvent, AuthenticationMiddleware, accountRoutes, JWTAuthBackend } from "portico/auth";
import { manualClock, testClient } from "portico/testing";
import { expect, it, onTestFinished } from "vitest";
import { codeAt } from "../../../scripts/clients/authenticator-app.ts";
import { MemoryKeyValue } from "../../../src/stores/memory-key-value.ts";
import { bearer, type Problem, type Tokens } from "../factors/factor-harness.ts";
import { ann, password, secret } from "./account-harness.ts";
import { memoryUsers } from "./memory-users.ts";

/** An application with the account routes, but without sessions: tokens are the only credentials. */
async function world(options: { readonly strictRefresh?: boolean; readonly issuer?: string } = {}) {
  const clock = manualClock(Date.UTC(2026, 0, 1));
  const users = memoryUsers();
  const events: AccountEvent[] = [];
  const mailer = async (): Promise<void> => {};
  const app = new PorticoApp({
    logger: false,
    clock,
    stores: { ...memoryStores(), durable: new MemoryKeyValue({ clock }) },
  });
  const backend = new JWTAuthBackend({ secretKey: secret, audience: "shop", identifier: "sub" });
  app.use(new AuthenticationMiddleware({ userModel: users, backend }));
  const onEvent = (event: AccountEvent): void => void events.push(event);
  app.mount("/account", accountRoutes({ userModel: users, secret, audience: "shop", mailer, onEvent, ...options }));
  onTestFinished(() => app.close());
  const client = testClient(app);
  await users.objects.markVerified(await users.objects.createUser(ann));
  const post = (path: string, body: object, headers = {}) => client.post(`/account${path}`, { body, headers });
  return {
    clock,
    events,
    post,
    signIn: async () => (await post("/token", { identifier: "ann", password })).json() as Tokens,
    refresh: (tokens: Tokens) => post("/refresh", { refresh_token: tokens.refresh_token }),
    statusOf: async (tokens: Tokens) => (await client.get("/account/me", { headers: bearer(tokens) })).status,
  };
}

it("signs in, refreshes, and ends the family of a refresh token", async () => {
  const { post, signIn, refresh, statusOf } = await world();
  const [first, other] = [await signIn(), await signIn()];
  const next = (await refresh(first)).json() as Tokens;

  expect(await statusOf(next)).toBe(200);
  expect((await post("/logout", { refresh_token: next.refresh_token })).status).toBe(204);
  expect((await refresh(next)).status).toBe(401);
  expect((await refresh(other)).status).toBe(200);
});

it("signs out on all devices", async () => {
  const { post, signIn, refresh, statusOf } = await world();
  const [here, elsewhere] = [await signIn(), await signIn()];

  expect((await post("/logout/everywhere", {}, bearer(here))).status).toBe(204);
  expect([await statusOf(here), await statusOf(elsewhere)]).toEqual([401, 401]);
  expect((await refresh(elsewhere)).status).toBe(401);
});

it("reports a reused refresh token", async () => {
  const { signIn, refresh, events } = await world({ strictRefresh: true });
  const tokens = await signIn();
  await refresh(tokens);

  expect((await refresh(tokens)).status).toBe(401);
  await expect.poll(() => events.filter(({ kind }) => kind === "token_reused")).toHaveLength(1);
});

it("completes a sign-in with the second factor", async () => {
  const { post, signIn, statusOf, clock } = await world();
  const headers = bearer(await signIn());
  const { secret: key } = (await post("/factors/totp", { password }, headers)).json() as { readonly secret: string };
  const confirmed = await post("/factors/totp/confirm", { code: codeAt(key, clock.now()) }, headers);
  expect([confirmed.status, confirmed.json()]).toMatchObject([200, { recovery_codes: expect.any(Array) as unknown }]);
  // The tokens from before were issued to one factor.
  expect([
    await statusOf(confirmed.json() as Tokens),
    await statusOf({ access_token: headers["authorization"] } as never),
  ]).toEqual([200, 401]);

  clock.advance(60_000);
  const { pending } = (await post("/token", { identifier: "ann", password })).json() as Problem;
  const done = await post("/second-factor", { pending, code: codeAt(key, clock.now()) });
  expect(await statusOf(done.json() as Tokens)).toBe(200);
});
