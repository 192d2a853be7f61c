import { PorticoApp } from "portico";
import {
  APIKeyAuthBackend,
  AuthenticationMiddleware,
  JWTAuthBackend,
  SessionAuthBackend,
  SessionMiddleware,
  SimpleUser,
  useAuth,
} from "portico/auth";
import { type TestClient, testClient } from "portico/testing";
import { expect, it, onTestFinished } from "vitest";
import { SECRET } from "./sessions/session-app.ts";

function client(): TestClient {
  const app = new PorticoApp({ logger: false });
  onTestFinished(() => app.close());
  app.use(new SessionMiddleware({ secret: SECRET })).use(
    new AuthenticationMiddleware({
      userModel: SimpleUser,
      backend: [
        new JWTAuthBackend({ secretKey: SECRET, identifier: "sub", audience: "shop" }),
        new SessionAuthBackend(),
        new APIKeyAuthBackend({ header: "X-Shop-Key" }),
      ],
    }),
  );
  app.get("/greeting", ({ request, response }) => {
    response.header("cache-control", "public, max-age=60").header("vary", "Accept-Language, authorization");
    return response.text(request.user.isAuthenticated ? "you again" : "hello");
  });
  app.get("/prices", ({ response }) => response.header("cache-control", "public, max-age=60").text("12"));
  app.get("/orders", { auth: useAuth({ required: false }) }, ({ response }) => response.text("yours"));
  return testClient(app);
}

it("a response that depends on the caller lists the headers in Vary, each once", async () => {
  expect((await client().get("/greeting")).headers["vary"]).toBe("Accept-Language, authorization, x-shop-key, Cookie");
  expect((await client().get("/orders")).headers["vary"]).toBe("Authorization, x-shop-key, Cookie");
});

it("a response that does not depend on the caller has no Vary", async () => {
  expect((await client().get("/prices")).headers).not.toHaveProperty("vary");
});
