import { PorticoApp } from "portico";
import { authentication, useAuth } from "portico/auth";
import { logCatcher, testClient } from "portico/testing";
import { expect, it, onTestFinished } from "vitest";
import { secret } from "./accounts/account-harness.ts";
import { memoryUsers } from "./accounts/memory-users.ts";

/** An application with all backends, which shows whether it regards a request as one with an invalid credential. */
function built() {
  const logger = logCatcher();
  const app = new PorticoApp({ logger })
    .use(authentication({ userModel: memoryUsers(), secret, audience: "shop", mailer: async () => {} }))
    .get("/gated", { auth: useAuth() }, () => "gated")
    .get("/open", ({ ctx, user }) => ({
      isAuthenticated: user.isAuthenticated,
      isRejected: ctx.identity.isRejected ?? false,
      hasFailed: ctx.identity.failure !== undefined,
    }));
  onTestFinished(() => app.close());
  return { client: testClient(app), logger };
}

const ANONYMOUS = { isAuthenticated: false, isRejected: false, hasFailed: false };

it.each<[string, Record<string, string>]>([
  ["no headers", {}],
  ["another cookie", { cookie: "theme=dark" }],
  ["another scheme", { authorization: "Basic eDp5" }],
])("a request with %s is anonymous, and leaves no warning in the log", async (_, headers) => {
  const { client, logger } = built();

  expect((await client.get("/open", { headers })).json()).toEqual(ANONYMOUS);
  const gated = await client.get("/gated", { headers });
  expect([gated.status, gated.headers["www-authenticate"]]).toEqual([401, "Bearer"]);
  expect(logger.lines.filter(({ level }) => level === "error" || level === "warn")).toEqual([]);
});

it.each<[string, Record<string, string>]>([
  ["a malformed token", { authorization: "Bearer x.y.z" }],
  ["an unknown API key", { "x-api-key": "pk_x" }],
  ["a forged session cookie", { cookie: `__Host-portico_session=${"A".repeat(43)}.${"A".repeat(43)}` }],
])("a request with %s is rejected, which is no fault", async (_, headers) => {
  const { client, logger } = built();

  expect((await client.get("/open", { headers })).json()).toEqual({ ...ANONYMOUS, isRejected: true });
  expect((await client.get("/gated", { headers })).status).toBe(401);
  expect(logger.lines.filter(({ level }) => level === "error")).toEqual([]);
});
