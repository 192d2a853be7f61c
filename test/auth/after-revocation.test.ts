import { setTimeout as sleep } from "node:timers/promises";
import { identify, PorticoApp } from "portico";
import {
  APIKeyAuthBackend,
  APIKeys,
  AuthenticationMiddleware,
  SessionAuthBackend,
  SessionMiddleware,
  SimpleUser,
  useAuth,
} from "portico/auth";
import { liveClient, testClient } from "portico/testing";
import { describe, expect, it, vi } from "vitest";
import { rawConnection } from "../http/raw-connection.ts";
import { signIn } from "../sign-in.ts";
import { by } from "./api-keys/key-app.ts";
import { HeaderBackend } from "./backends/recording-backend.ts";
import { SECRET } from "./sessions/session-app.ts";

/** Ann signs in by a session, makes keys, and may do what the list says at that moment. */
function shop(permissions: string[] = []): PorticoApp {
  const app = new PorticoApp({ logger: false, timeouts: { recheckSeconds: 0.1 } });
  const keys = new APIKeys();
  app.use(new SessionMiddleware({ secret: SECRET }));
  app.use(
    new AuthenticationMiddleware({
      userModel: { loadUser: async (identity) => new SimpleUser(identity, [...permissions]) },
      backend: [new SessionAuthBackend(), new APIKeyAuthBackend({ keys }), new HeaderBackend("jwt")],
    }),
  );
  app.post("/login", ({ request }) => request.sessions.login(new SimpleUser("ann")));
  app.post("/keys", { auth: useAuth() }, async ({ user, request }) => {
    await request.json();
    return keys.create(user);
  });
  app.get("/keys", { auth: useAuth() }, ({ user }) => keys.list(user));
  // The effect of a new password.
  app.delete("/everything", { auth: useAuth() }, async ({ user, request }) => {
    await request.sessions.revokeAll();
    await keys.revokeAll(user);
  });
  app.socket("/may", { auth: useAuth() }, async ({ socket, ctx }) => {
    for await (const permission of socket) socket.send(String(ctx.user.hasPermission(String(permission))));
  });
  const fresh = useAuth({ scopes: ["session"], freshSeconds: 60 });
  app.post("/login/fresh", async ({ request, ctx }) => {
    await request.sessions.login(new SimpleUser("ann"));
    await fresh.check(ctx);
    return { id: ctx.identity.credential?.id, sessions: (await request.sessions.list()).map(({ id }) => id) };
  });
  return app;
}
const ANN = { headers: { "x-jwt": "ann" } };

describe("a socket that stays open", () => {
  it("sees changed permissions of its user at the next recheck", async () => {
    const permissions = ["write:books"];
    const client = await liveClient(shop(permissions));
    const { key } = (await client.post("/keys", { ...ANN, body: {} })).json() as { key: string };
    const socket = await client.socket("/may", by(key));
    const may = async (permission: string): Promise<string> => {
      socket.send(permission);
      return socket.next();
    };
    expect([await may("write:books"), await may("delete:books")]).toEqual(["true", "false"]);

    permissions.splice(0, 1, "delete:books");

    await vi.waitFor(async () => expect(await may("write:books")).toBe("false"), 60_000);
    expect(await may("delete:books")).toBe("true");
    await client.close();
  });

  it("keeps the identity that another middleware has set", async () => {
    const app = new PorticoApp({ logger: false, timeouts: { recheckSeconds: 0.05 } });
    const backend = new HeaderBackend("jwt");
    app.use(new AuthenticationMiddleware({ userModel: SimpleUser, backend }));
    app.use(async (ctx, next) => {
      identify(ctx, { ...ctx.identity, user: new SimpleUser("ann, for bob") });
      await next();
    });
    app.socket("/who", { auth: useAuth() }, async ({ socket, ctx }) => {
      for await (const _ of socket) socket.send(ctx.user.identity);
    });
    const client = await liveClient(app);
    const socket = await client.socket("/who", ANN);

    await vi.waitFor(() => expect(backend.asked.length).toBeGreaterThan(2), 60_000);
    socket.send("who?");

    expect(await socket.next()).toBe("ann, for bob");
    await client.close();
  });
});

it("a request accepted before a revocation cannot create a key after it", async () => {
  const client = await liveClient(shop());
  const { cookie } = await signIn(client);
  const slow = await rawConnection(client.port);
  slow.socket.write(
    `POST /keys HTTP/1.1\r\nHost: localhost\r\nCookie: ${cookie}\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{`,
  );
  await sleep(200);

  expect((await client.delete("/everything", ANN)).status).toBe(204);
  slow.socket.write("}");

  expect(await slow.until("\r\n\r\n")).toMatch(/^HTTP\/1\.1 401 /);
  expect((await client.get("/keys", ANN)).json()).toEqual([]);
  await client.close();
});

it("a new sign-in takes effect in the same request, and is recent", async () => {
  const answer = await testClient(shop()).post("/login/fresh");

  expect(answer.status).toBe(200);
  const { id, sessions } = answer.json() as { id: string; sessions: string[] };
  expect(sessions.map((session) => `session:${session}`)).toEqual([id]);
});
