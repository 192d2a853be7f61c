import { PorticoApp, type UserProtocol } from "portico";
import { APIKeyAuthBackend, APIKeys, AuthenticationMiddleware, UserBaseModel, useAuth } from "portico/auth";
import { testClient } from "portico/testing";
import { expect, it } from "vitest";
import { overBoth } from "../../matrix.ts";
import { by, make } from "../api-keys/key-app.ts";
import { HeaderBackend } from "../backends/recording-backend.ts";

/** Everything of it is private: what a proxy cannot reach. */
class PrivateUser implements UserProtocol {
  readonly isAuthenticated = true;
  readonly #name: string;
  readonly #permissions: readonly string[];

  constructor(name: string, permissions: readonly string[] = ["read:books", "write:books"]) {
    this.#name = name;
    this.#permissions = permissions;
  }
  get identity(): string {
    return this.#name;
  }
  get displayName(): string {
    return this.#name.toUpperCase();
  }
  hasPermission(permission: string): boolean {
    return this.#permissions.includes(permission);
  }
  get mayWrite(): boolean {
    return this.#permissions.includes("write:books");
  }
}

/** A class that implements `narrowedTo`. */
class NarrowableUser extends PrivateUser {
  narrowedTo(permissions: readonly string[]): NarrowableUser {
    return new NarrowableUser(
      this.identity,
      permissions.filter((permission) => this.hasPermission(permission)),
    );
  }
}

/** Nothing of it can be changed. */
class FrozenUser extends UserBaseModel {
  readonly identity: string;
  readonly displayName: string;

  constructor(name: string) {
    super(["read:books", "write:books"]);
    this.identity = name;
    this.displayName = name.toUpperCase();
    Object.freeze(this);
  }
  get narrowedFacts(): readonly string[] {
    return ["mayWrite"];
  }
  get mayWrite(): boolean {
    return this.hasPermission("write:books");
  }
}

type Writer = UserProtocol & { readonly mayWrite: boolean };

function appOf(userOf: (name: string) => UserProtocol): PorticoApp {
  const app = new PorticoApp({ logger: false });
  const keys = new APIKeys();
  app.use(
    new AuthenticationMiddleware({
      userModel: { loadUser: async (identity) => userOf(identity) },
      backend: [new HeaderBackend("session"), new APIKeyAuthBackend({ keys })],
    }),
  );
  app.post("/keys", { auth: useAuth() }, ({ user }) => keys.create(user, { permissions: ["read:books"] }));
  app.get("/read", { auth: useAuth({ permissions: ["read:books"] }) }, ({ user }) => [user.identity, user.displayName]);
  app.get("/write", { auth: useAuth({ permissions: ["write:books"] }) }, () => "written");
  app.get("/may-write", { auth: useAuth() }, ({ user }) => ({ mayWrite: (user as Writer).mayWrite }));
  app.get("/whole", { auth: useAuth() }, ({ user }) => ({ ...user }));
  return app;
}

overBoth(
  "[BCK-37] [auth:AU-154] a key narrows a user whose class keeps everything private, too",
  () => appOf((name) => new PrivateUser(name)),
  async (client) => {
    const { key } = await make(client);

    expect((await client.get("/read", by(key))).json()).toEqual(["ann", "ANN"]);
    expect((await client.get("/write", by(key))).status).toBe(403);
    // A member that its class does not list as a fact is denied.
    expect((await client.get("/may-write", by(key))).status).toBe(500);
  },
);

overBoth(
  "[BCK-37] [auth:AU-154] a class that can be narrowed does it itself, and everything of it works",
  () => appOf((name) => new NarrowableUser(name)),
  async (client) => {
    const { key } = await make(client);

    expect((await client.get("/read", by(key))).json()).toEqual(["ann", "ANN"]);
    expect((await client.get("/write", by(key))).status).toBe(403);
    expect((await client.get("/may-write", by(key))).json()).toEqual({ mayWrite: false });
  },
);

overBoth(
  "[BCK-37] [auth:AU-154] a key narrows a user that is frozen, too",
  () => appOf((name) => new FrozenUser(name)),
  async (client) => {
    const { key } = await make(client);

    expect((await client.get("/read", by(key))).json()).toEqual(["ann", "ANN"]);
    expect((await client.get("/write", by(key))).status).toBe(403);
    expect((await client.get("/may-write", by(key))).json()).toEqual({ mayWrite: false });
    expect((await client.get("/whole", by(key))).json()).toEqual({
      isAuthenticated: true,
      identity: "ann",
      displayName: "ANN",
      permissions: ["read:books"],
    });
  },
);

it("does not change the user itself, which several requests may share", async () => {
  const shared = new FrozenUser("ann");
  const client = testClient(appOf(() => shared));
  const { key } = await make(client);

  expect((await client.get("/write", by(key))).status).toBe(403);
  expect((await client.get("/write", { headers: { "x-session": "ann" } })).status).toBe(200);
});
