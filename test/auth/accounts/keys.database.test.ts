import { useAuth } from "portico/auth";
import { manualClock } from "portico/testing";
import { expect, it } from "vitest";
import { accountHarness, ann, owned, password } from "./account-harness.ts";
import { accountsIn, EVERYWHERE } from "./account-places.ts";

interface Made {
  readonly id: string;
  readonly key: string;
}

accountsIn(EVERYWHERE, (accounts) => {
  it("[auth:AU-156] creates a key for a signed-in user, and rejects anonymous callers", async () => {
    const { post, client, users, session } = accounts(owned);
    await post("/register", ann);
    await post("/register", { ...ann, email: "eve@example.org", username: "eve" });
    const victim = await users.objects.get({ username: "ann" });

    const nobody = await post("/keys", { user_id: victim?.identity });
    const headers = await session("eve");
    const made = await post("/keys", { user_id: victim?.identity, user: victim?.identity }, undefined, headers);
    const { key } = made.json() as Made;

    expect([nobody.status, made.status, made.headers["cache-control"]]).toEqual([401, 201, "no-store"]);
    expect((await client.get("/account/me", { headers: { "x-api-key": key } })).json()).toMatchObject({
      username: "eve",
    });
  });

  it("[auth:AU-155] does not let a key create keys", async () => {
    const { post, session } = accounts(owned);
    await post("/register", ann);
    const { key } = (await post("/keys", {}, undefined, await session())).json() as Made;

    expect((await post("/keys", {}, undefined, { "x-api-key": key })).status).toBe(403);
  });

  it("lists keys without their secret, and revokes them", async () => {
    const { post, client, session } = accounts(owned);
    await post("/register", ann);
    const headers = await session();
    const { id, key } = (
      await post("/keys", { name: "backup", permissions: ["read:books"] }, undefined, headers)
    ).json() as Made;

    const listed = await client.get("/account/keys", { headers });
    const revoked = await client.delete(`/account/keys/${id}`, { headers });

    expect(listed.json()).toMatchObject([{ id, name: "backup", permissions: ["read:books"], prefix: `pk_${id}` }]);
    expect(listed.text()).not.toContain(key);
    expect(revoked.status).toBe(204);
    expect((await client.get("/account/me", { headers: { "x-api-key": key } })).status).toBe(401);
  });

  it("requires a recent sign-in or the password", async () => {
    const clock = manualClock();
    const { post, session } = accounts({ ...owned, app: { clock } });
    await post("/register", ann);
    const headers = await session();

    clock.advance(601_000);

    expect((await post("/keys", {}, undefined, headers)).json()).toMatchObject({ status: 403, code: "sign_in_again" });
    expect((await post("/keys", { password: "wrong password" }, undefined, headers)).status).toBe(401);
    expect((await post("/keys", { password }, undefined, headers)).status).toBe(201);
  });

  it("revokes keys with a password change, if asked to", async () => {
    const { post, client } = accounts(owned);
    await post("/register", ann);
    const login = async (word: string): Promise<Record<string, string>> => {
      const answer = await post("/token", { identifier: ann.email, password: word });
      return { authorization: `Bearer ${(answer.json() as { access_token: string }).access_token}` };
    };
    const before = await login(password);
    const { key } = (await post("/keys", {}, undefined, before)).json() as Made;
    const statusOf = async (): Promise<number> =>
      (await client.get("/account/me", { headers: { "x-api-key": key } })).status;
    const change = async (from: string, to: string, more: object, headers: Record<string, string>): Promise<number> =>
      (await post("/password", { current_password: from, new_password: to, ...more }, undefined, headers)).status;

    const kept = [await change(password, "another long one", {}, before), await statusOf()];
    const after = await login("another long one");
    const revoked = [await change("another long one", password, { revoke_keys: true }, after), await statusOf()];

    expect({ kept, revoked }).toEqual({ kept: [200, 200], revoked: [200, 401] });
  });

  it("[auth:AU-153] rejects the key of a disabled user", async () => {
    const harness = accounts(owned);
    harness.app.get("/orders", { auth: useAuth({ scopes: ["apikey"] }) }, () => "orders");
    await harness.post("/register", ann);
    const { key } = (await harness.post("/keys", {}, undefined, await harness.session())).json() as Made;
    const orders = async (): Promise<number> =>
      (await harness.client.get("/orders", { headers: { "x-api-key": key } })).status;
    expect(await orders()).toBe(200);

    const user = await harness.users.objects.get({ username: "ann" });
    if (user !== null) await harness.users.objects.disable(user);

    expect(await orders()).toBe(401);
  });
});

it.each([
  { expires_in: 0 },
  { expires_in: -5 },
  { expires_in: 1e13 },
  { name: "x".repeat(201) },
  { permissions: [""] },
])("returns 422 for a key with %j", async (body) => {
  const { post, session } = accountHarness(owned);
  await post("/register", ann);

  const answer = await post("/keys", body, undefined, await session());

  expect(answer.json()).toMatchObject({ status: 422, errors: [{ path: [Object.keys(body)[0]] }] });
});

it("does not let a key change the account that it belongs to", async () => {
  const { post, client, session } = accountHarness(owned);
  await post("/register", ann);
  const cookie = await session();
  const { id, key } = (await post("/keys", { permissions: [] }, undefined, cookie)).json() as Made;
  const headers = { "x-api-key": key };
  const [device] = (await client.get("/account/sessions", { headers: cookie })).json() as { id: string }[];

  const statuses = [
    (await client.get("/account/sessions", { headers })).status,
    (await client.delete(`/account/sessions/${device?.id}`, { headers })).status,
    (await client.get("/account/keys", { headers })).status,
    (await client.delete(`/account/keys/${id}`, { headers })).status,
    (await post("/logout/everywhere", {}, undefined, headers)).status,
    (await post("/password", { current_password: password, new_password: "another password" }, undefined, headers))
      .status,
  ];

  expect(statuses).toEqual([401, 401, 401, 401, 401, 401]);
  expect((await client.get("/account/me", { headers: cookie })).status).toBe(200);
});
