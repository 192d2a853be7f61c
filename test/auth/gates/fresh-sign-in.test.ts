import { PorticoApp } from "portico";
import {
  AuthenticationMiddleware,
  JWTAuthBackend,
  SessionAuthBackend,
  SessionMiddleware,
  SimpleUser,
  TokenForUser,
  useAuth,
} from "portico/auth";
import { manualClock, testClient } from "portico/testing";
import { expect, it } from "vitest";

const secret = "the-secret-of-the-fresh-sign-in-0123456789";

it("accepts a recent sign-in, and requires all other callers to sign in again", async () => {
  const clock = manualClock(Date.UTC(2026, 0, 1));
  const app = new PorticoApp({ logger: false, clock })
    .use(new SessionMiddleware({ secret }))
    .use(
      new AuthenticationMiddleware({
        userModel: SimpleUser,
        backend: [
          new JWTAuthBackend({ secretKey: secret, identifier: "sub", audience: "shop", clock }),
          new SessionAuthBackend(),
        ],
      }),
    )
    .post("/login", ({ request }) => request.sessions.login(new SimpleUser("ann")))
    .get("/email", { auth: useAuth({ freshWithin: 600 }) }, () => "changed");
  const client = testClient(app);
  const login = async (): Promise<Record<string, string>> => {
    const { cookies } = await client.post("/login");
    return { cookie: cookies.map((cookie) => cookie.split(";")[0]).join("; ") };
  };
  const change = async (headers: Record<string, string>) => (await client.get("/email", { headers })).json();
  const first = await login();
  const pair = await new TokenForUser(new SimpleUser("ann"), { secret, audience: "shop", clock }).tokenPair();

  expect(await change(first)).toBe("changed");
  expect(await change({ authorization: `Bearer ${pair.access_token}` })).toMatchObject({ code: "sign_in_again" });
  clock.advance(600_000);
  expect(await change(first)).toMatchObject({ status: 403, code: "sign_in_again" });
  expect(await change(await login())).toBe("changed");
  expect(await change({})).toMatchObject({ status: 401 });
});

it.each([0, -1, 1.5, "600", undefined])("refuses freshWithin: %s when the gate is made", (freshWithin) => {
  expect(() => useAuth({ freshWithin } as { freshWithin: number })).toThrow("useAuth.freshWithin");
});
