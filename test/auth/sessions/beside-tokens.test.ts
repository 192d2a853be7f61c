import { PorticoApp } from "portico";
import {
  type AuthenticationBackend,
  AuthenticationMiddleware,
  JWTAuthBackend,
  SessionAuthBackend,
  SessionMiddleware,
  SimpleUser,
  TokenForUser,
  useAuth,
} from "portico/auth";
import { liveClient } from "portico/testing";
import { expect, it } from "vitest";
import { RecordingStore } from "./recording-store.ts";
import { cookieOf, SECRET } from "./session-app.ts";

const TOKEN_SECRET = "a secret for tokens, which is long enough too";
const jwt = new JWTAuthBackend({ secretKey: TOKEN_SECRET, identifier: "sub" });
const session = new SessionAuthBackend();

function build(store: RecordingStore, backend: readonly AuthenticationBackend[]): PorticoApp {
  const app = new PorticoApp({ logger: false });
  app.use(new SessionMiddleware({ secret: SECRET, store }));
  app.use(new AuthenticationMiddleware({ userModel: SimpleUser, backend }));
  app.post("/login/:name", ({ request, path }) => request.sessions.login(new SimpleUser(path.name)));
  app.get("/me", { auth: useAuth() }, ({ user, request }) => [user.identity, request.scope.auth]);
  app.post("/act", { auth: useAuth() }, ({ user, request }) => [user.identity, request.scope.auth]);
  return app;
}

it("[BCK-15] [auth:AU-057] [auth:AU-058] the order of the backends decides between a token and a cookie, and the other one is ignored", async () => {
  const store = new RecordingStore();
  const [tokens, sessions] = [
    await liveClient(build(store, [jwt, session])),
    await liveClient(build(store, [session, jwt])),
  ];
  const { access_token } = await new TokenForUser(new SimpleUser("ann"), { secret: TOKEN_SECRET }).tokenPair();
  const cookie = cookieOf(await tokens.post("/login/bob")) ?? "";
  const both = { headers: { authorization: `Bearer ${access_token}`, cookie } };
  const invalid = { headers: { authorization: `Bearer ${access_token}x`, cookie } };
  store.take();

  const byToken = await tokens.get("/me", both);
  const untouched = store.take();
  const bySession = await sessions.get("/me", both);
  const fallback = await tokens.get("/me", invalid);
  const forged = await tokens.post("/act", { headers: { ...invalid.headers, origin: "https://evil.example" } });
  const allowed = await sessions.post("/act", { headers: { ...both.headers, origin: "https://evil.example" } });

  expect([byToken.json(), byToken.cookies, untouched]).toEqual([["ann", "jwt"], [], []]);
  expect(bySession.json()).toEqual(["bob", "session"]);
  expect(fallback.json()).toEqual(["bob", "session"]);
  expect([forged.status, allowed.json()]).toEqual([403, ["ann", "jwt"]]);
  await tokens.close();
  await sessions.close();
});
