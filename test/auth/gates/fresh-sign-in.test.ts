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
import { signIn } from "../../sign-in.ts";

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
    .get("/email", { auth: useAuth({ freshSeconds: 600 }) }, () => "changed");
  const client = testClient(app);
  const change = async (headers: Record<string, string>) => (await client.get("/email", { headers })).json();
  const first = await signIn(client);
  const pair = await new TokenForUser(new SimpleUser("ann"), { secret, audience: "shop", clock }).tokenPair();

  expect(await change(first)).toBe("changed");
  expect(await change({ authorization: `Bearer ${pair.access_token}` })).toMatchObject({ code: "sign_in_again" });
  clock.advance(600_000);
  expect(await change(first)).toMatchObject({ status: 403, code: "sign_in_again" });
  expect(await change(await signIn(client))).toBe("changed");
  expect(await change({})).toMatchObject({ status: 401 });
});

it.each([0, -1, 1.5, "600", undefined])("refuses freshSeconds: %s when the gate is made", (freshSeconds) => {
  expect(() => useAuth({ freshSeconds } as { freshSeconds: number })).toThrow("useAuth.freshSeconds");
});
