import { ConfigurationError, PorticoApp, type PorticoAppOptions } from "portico";
import { AuthenticationMiddleware, SimpleUser, useAuth } from "portico/auth";
import { actingAs, liveClient, manualClock, SocketRefused, testClient } from "portico/testing";
import { afterEach, expect, it, vi } from "vitest";
import { HeaderBackend } from "../auth/backends/recording-backend.ts";
import { overBoth } from "../matrix.ts";

const ann = new SimpleUser("ann", ["read:books"]);
const backend = new HeaderBackend("apikey");
const app = (options: PorticoAppOptions = {}): PorticoApp =>
  new PorticoApp({ logger: false, ...options })
    .use(new AuthenticationMiddleware({ userModel: SimpleUser, backend }))
    .get("/me", ({ request, user }) => ({ user: user.identity, auth: request.scope.auth }))
    .get("/tokens", { auth: useAuth({ scopes: ["jwt"] }) }, ({ user }) => user.identity)
    .get("/books", { auth: useAuth({ permissions: ["read:books"] }) }, ({ user }) => user === ann)
    .get("/staff", { auth: useAuth({ permissions: ["manage"] }) }, () => "staff")
    .socket("/news", { auth: useAuth() }, ({ socket, user }) => socket.send(user.identity));

afterEach(() => void vi.unstubAllEnvs());

overBoth(
  "a client acts as a user, whatever the backends say, and gates judge by it",
  () => app(),
  async (client) => {
    const signedIn = client.as(ann);

    expect((await signedIn.get("/me", { headers: { "x-apikey": "eve" } })).json()).toEqual({
      user: "ann",
      auth: "session",
    });
    expect((await signedIn.get("/books")).json()).toBe(true);
    expect((await signedIn.get("/staff")).status).toBe(403);
    expect((await signedIn.get("/tokens")).status).toBe(401);
    expect((await client.as(ann, { scope: "jwt" }).get("/tokens")).text()).toContain("ann");
    expect((await client.get("/me")).json()).toEqual({ user: "", auth: null });
  },
);

it("headers authenticate a socket, and are ignored by another application", async () => {
  const shop = app();
  const client = await liveClient(shop);
  try {
    const headers = actingAs(shop, ann);
    const socket = await client.socket("/news", { headers });

    expect(await socket.next()).toBe("ann");
    await expect(client.socket("/news", { headers: actingAs(app(), ann) })).rejects.toThrow(SocketRefused);
    expect((await testClient(app()).get("/books", { headers })).status).toBe(401);
  } finally {
    await client.close();
  }
});

it("headers are ignored in production, on a route and at an upgrade, and cannot be created there", async () => {
  const shop = app({ publicUrl: "https://shop.example" });
  const client = await liveClient(shop);
  try {
    const headers = actingAs(shop, ann);
    expect((await client.get("/books", { headers })).status).toBe(200);

    vi.stubEnv("NODE_ENV", "production");

    expect((await client.get("/books", { headers })).status).toBe(401);
    expect((await testClient(shop).get("/books", { headers })).status).toBe(401);
    await expect(client.socket("/news", { headers })).rejects.toThrow(SocketRefused);
    expect(() => actingAs(shop, ann)).toThrow(ConfigurationError);
  } finally {
    await client.close();
  }
});

it("headers expire after an hour, and a client renews its own", async () => {
  const clock = manualClock();
  const shop = app({ clock });
  const headers = actingAs(shop, ann);
  const client = testClient(shop).as(ann);

  clock.advance(3_599_999);
  expect((await testClient(shop).get("/books", { headers })).status).toBe(200);
  clock.advance(1);
  expect((await testClient(shop).get("/books", { headers })).status).toBe(401);
  expect((await client.get("/books")).status).toBe(200);
});
