import type { TestResponse } from "portico/testing";
import { beforeAll, describe, expect, it } from "vitest";
import { openShop, password, type Shop } from "./open-shop.ts";
import { bySession, byToken, cookieOf, type Headers } from "./sign-in.ts";

let shop: Shop;
beforeAll(async () => {
  shop = await openShop({ books: 5, users: 5 });
});

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}
const tokensOf = (answer: TestResponse): Tokens => answer.json() as Tokens;

const me = async (headers: Headers): Promise<unknown> =>
  (await shop.client.graphql("{ me { username roles permissions } }", {}, { headers })).data?.["me"];

describe("an account", () => {
  it("gets the reader role on registration, and signs in with a session and with a token", async () => {
    const account = { email: "ann@shop.example", username: "ann", password: "a long enough secret" };

    const registered = await shop.client.post("/account/register", { body: account });
    const login = await shop.client.post("/account/login", {
      body: { identifier: "Ann@Shop.example", password: account.password },
    });
    const token = await shop.client.post("/account/token", {
      body: { identifier: "ann", password: account.password },
    });

    const ann = { username: "ann", roles: ["reader"], permissions: ["place:orders", "write:reviews"] };
    const { access_token } = token.json() as { readonly access_token: string };
    expect([registered.status, login.status, token.status]).toEqual([202, 200, 200]);
    expect(await me({ cookie: cookieOf(login.cookies) })).toEqual(ann);
    expect(await me({ authorization: `Bearer ${access_token}` })).toEqual(ann);
    expect(await me({})).toBeNull();
  });

  it("rejects a wrong password and an unknown name alike", async () => {
    const wrong = await shop.client.post("/account/login", { body: { identifier: "reader1", password: "not that" } });
    const unknown = await shop.client.post("/account/login", {
      body: { identifier: "unknown-user", password: "not that" },
    });

    expect(wrong.json()).toMatchObject({ status: 401, code: "invalid_credentials" });
    expect(unknown.json()).toMatchObject({ status: 401, code: "invalid_credentials" });
  });

  it("gets a new refresh token with each refresh", async () => {
    const refresh = async (refresh_token: string) => shop.client.post("/account/refresh", { body: { refresh_token } });
    const first = tokensOf(await shop.client.post("/account/token", { body: { identifier: "reader2", password } }));

    const second = tokensOf(await refresh(first.refresh_token));
    const third = tokensOf(await refresh(second.refresh_token));

    expect(await me({ authorization: `Bearer ${third.access_token}` })).toMatchObject({ username: "reader2" });
    expect(new Set([first, second, third].map(({ refresh_token }) => refresh_token)).size).toBe(3);
  });

  it("lists its devices and revokes one of them", async () => {
    const [phone, laptop] = [await bySession(shop.client, "reader3"), await bySession(shop.client, "reader3")];
    const list = async () =>
      (await shop.client.get("/account/sessions", { headers: laptop })).json() as { id: string; current: boolean }[];
    const other = (await list()).find(({ current }) => !current);

    const revoked = await shop.client.delete(`/account/sessions/${other?.id}`, { headers: laptop });

    expect(revoked.status).toBe(204);
    expect(await list()).toHaveLength(1);
    expect([await me(phone), await me(laptop)]).toEqual([null, expect.objectContaining({ username: "reader3" })]);
  });

  it("has API keys for programs, which are limited to their permissions", async () => {
    const headers = await bySession(shop.client, "staff");

    const made = await shop.client.post("/account/keys", {
      body: { name: "stock robot", permissions: ["read:costs"] },
      headers,
    });
    const { key, id } = made.json() as { readonly key: string; readonly id: string };
    const robot = { "x-api-key": key };

    expect(made.status).toBe(201);
    expect(await me(robot)).toMatchObject({ username: "staff", permissions: ["read:costs"] });
    expect((await shop.client.get("/books/stock", { headers: robot })).status).toBe(200);
    expect((await shop.client.post("/books", { body: {}, headers: robot })).status).toBe(403);
    await shop.client.delete(`/account/keys/${id}`, { headers });
    expect((await shop.client.get("/books/stock", { headers: robot })).status).toBe(401);
  });

  it("gets a password reset by email, which signs it out everywhere", async () => {
    const before = await byToken(shop.client, "reader4");

    await shop.client.post("/account/password/reset", { body: { email: "reader4@shop.example" } });
    await expect.poll(() => shop.mails.at(-1)?.kind).toBe("reset");
    const link = new URL(shop.mails.at(-1)?.url ?? "", "http://shop.example");
    const confirmed = await shop.client.post("/account/password/reset/confirm", {
      body: { token: link.searchParams.get("token"), password: "another secret of mine" },
    });
    const old = await shop.client.post("/account/login", { body: { identifier: "reader4", password } });
    const fresh = await shop.client.post("/account/login", {
      body: { identifier: "reader4", password: "another secret of mine" },
    });

    expect(link.pathname).toBe("/new-password");
    expect((await shop.client.get(link.pathname)).status).toBe(200);
    expect([confirmed.status, old.status, fresh.status]).toEqual([204, 401, 200]);
    expect(await me(before)).toBeNull();
  });

  it("gets a role only from an admin", async () => {
    const grant = 'mutation { grantRole(username: "reader5", role: seller) { username roles } }';

    const refused = await shop.client.graphql(grant, {}, { headers: await byToken(shop.client, "staff") });
    const granted = await shop.client.graphql(grant, {}, { headers: await byToken(shop.client, "admin") });

    expect(refused.errors).toMatchObject([{ extensions: { code: "FORBIDDEN" } }]);
    expect(granted.data).toEqual({ grantRole: { username: "reader5", roles: ["reader", "seller"] } });
    expect(await me(await byToken(shop.client, "reader5"))).toMatchObject({ roles: ["reader", "seller"] });
  });
});

describe("account events", () => {
  it("are listed for admins only, newest first, without credentials", async () => {
    await shop.client.post("/account/login", { body: { identifier: "reader1", password: "not that" } });
    const admin = await byToken(shop.client, "admin");
    const list = (headers: Headers): Promise<TestResponse> =>
      shop.client.get("/account-events?page_size=2", { headers });

    await expect
      .poll(async () => (await list(admin)).json())
      .toMatchObject({
        items: [
          { kind: "login_succeeded", outcome: "success", user_id: expect.any(String) },
          { kind: "login_failed", outcome: "failure", user_id: null },
        ],
      });
    expect((await list({})).status).toBe(401);
    expect((await list(await byToken(shop.client, "staff"))).status).toBe(403);
    expect((await list(admin)).text()).not.toContain("not that");
  });
});

describe("an admin", () => {
  it("acts as a reader to see what they see, but not as an admin", async () => {
    const headers = await bySession(shop.client, "admin");
    const actAs = (user: string) => shop.client.post("/account/impersonation", { headers, body: { user } });

    expect((await actAs("admin")).json()).toMatchObject({ code: "impersonation_refused" });
    expect((await actAs("reader3")).status).toBe(200);
    expect(await me(headers)).toMatchObject({ username: "reader3", roles: ["reader"] });
    expect((await shop.client.get("/account/me", { headers })).json()).toMatchObject({ impersonator: "admin" });

    await shop.client.post("/account/impersonation/end", { headers });
    expect(await me(headers)).toMatchObject({ username: "admin" });
  });
});
