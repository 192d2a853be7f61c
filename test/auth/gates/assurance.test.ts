import { SignJWT } from "jose";
import { PorticoApp } from "portico";
import {
  APIKeyAuthBackend,
  APIKeys,
  AuthenticationMiddleware,
  JWTAuthBackend,
  SessionAuthBackend,
  SessionMiddleware,
  SimpleUser,
  useAuth,
} from "portico/auth";
import { manualClock, testClient } from "portico/testing";
import { expect, it } from "vitest";
import { signIn } from "../../sign-in.ts";

const secret = "the-secret-of-the-assurance-levels-0123456789";
const clock = manualClock(Date.UTC(2026, 0, 1));
const keys = new APIKeys();
const app = new PorticoApp({ logger: false, clock })
  .use(new SessionMiddleware({ secret }))
  .use(
    new AuthenticationMiddleware({
      userModel: SimpleUser,
      backend: [
        new JWTAuthBackend({ secretKey: secret, identifier: "sub", audience: "shop", clock }),
        new SessionAuthBackend(),
        new APIKeyAuthBackend({ keys }),
      ],
    }),
  )
  .post("/login", ({ request }) => request.sessions.login(new SimpleUser("ann")))
  .post("/login/strong", ({ request }) => request.sessions.login(new SimpleUser("ann"), { level: "mfa" }))
  .post("/key", { auth: useAuth() }, ({ user }) => keys.create(user))
  .get("/payout", { auth: useAuth({ level: "mfa" }) }, () => "paid")
  .get("/new-account", { auth: useAuth({ level: "mfa", freshSeconds: 60 }) }, () => "changed");
const client = testClient(app);

const get = async (path: string, headers: Record<string, string>): Promise<unknown> =>
  (await client.get(path, { headers })).json();
const REFUSED = { status: 403, code: "second_factor_required" };

it("accepts a session with two factors, and refuses one with one factor", async () => {
  const [weak, strong] = [await signIn(client, "/login"), await signIn(client, "/login/strong")];

  expect(await get("/payout", weak)).toMatchObject(REFUSED);
  expect(await get("/payout", strong)).toBe("paid");
  expect(await get("/payout", {})).toMatchObject({ status: 401 });
});

it("[auth:AU-263] asks for the second factor before it asks for a recent sign-in", async () => {
  const [weak, strong] = [await signIn(client, "/login"), await signIn(client, "/login/strong")];
  clock.advance(60_000);

  expect(await get("/new-account", weak)).toMatchObject(REFUSED);
  expect(await get("/new-account", strong)).toMatchObject({ status: 403, code: "sign_in_again" });
});

it("[auth:AU-262] trusts no claim of another issuer, and no API key of a user who signed in with two factors", async () => {
  const strong = await signIn(client, "/login/strong");
  const now = clock.now() / 1000;
  const token = await new SignJWT({ sub: "ann", aud: "shop", acr: "mfa", amr: ["pwd", "mfa"], level: "mfa" })
    .setProtectedHeader({ alg: "HS256" })
    .setIssuedAt(now)
    .setExpirationTime(now + 600)
    .sign(Buffer.from(secret));
  const { key } = (await client.post("/key", { headers: strong })).json() as { key: string };

  expect(await get("/payout", { authorization: `Bearer ${token}` })).toMatchObject(REFUSED);
  expect(await get("/payout", { "x-api-key": key })).toMatchObject(REFUSED);
});

it.each(["MFA", "", true, null, undefined])("refuses level: %s when the gate is made", (level) => {
  expect(() => useAuth({ level } as { level: "mfa" })).toThrow("useAuth.level");
});
