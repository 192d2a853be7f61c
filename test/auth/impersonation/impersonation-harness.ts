import { memoryStores, type Stores } from "portico";
import { type AuthenticationOptions, TokenForUser, useAuth } from "portico/auth";
import { type Grants, type SQLUserManager, type UserRecord, userModel } from "portico/sql";
import { type ManualClock, manualClock, type TestResponse } from "portico/testing";
import { onTestFinished } from "vitest";
import { MemoryKeyValue } from "../../../src/stores/memory-key-value.ts";
import { migratedPlace } from "../../sql/accounts/databases.ts";
import { type AccountHarness, accountHarness, password, secret } from "../accounts/account-harness.ts";

export type Headers = Readonly<Record<string, string>>;
type Name = "ann" | "sam" | "eve" | "ida";

/** An application in which sam of the support may act as ann, and not as eve and ida. */
export interface ImpersonationHarness extends AccountHarness {
  readonly clock: ManualClock;
  readonly ids: Readonly<Record<Name, string>>;
  readonly objects: SQLUserManager<UserRecord>;
  readonly stores: Stores;
  readonly login: (name: Name) => Promise<Headers>;
  /** Lets the session act as a user. */
  readonly act: (headers: Headers, name: Name) => Promise<TestResponse>;
  readonly me: (headers: Headers) => Promise<Record<string, unknown>>;
}

const GRANTS: Readonly<Record<Name, Grants["permissions"]>> = {
  ann: ["read:books"],
  sam: ["read:books", "users.impersonate"],
  eve: ["read:books", "write:books"],
  ida: ["users.impersonate"],
};

const INITIAL: Readonly<Record<Name, string>> = { ann: "", sam: "", eve: "", ida: "" };

export interface ImpersonationParts {
  readonly users: ReturnType<typeof userModel>;
  readonly stores: Stores;
}

export async function impersonationHarness({
  parts,
  account = {},
}: {
  readonly parts?: ImpersonationParts;
  readonly account?: Partial<AuthenticationOptions>;
} = {}): Promise<ImpersonationHarness> {
  const clock = manualClock(Date.now());
  const { users, stores } = parts ?? (await partsInMemory(clock));
  const harness = accountHarness({
    users,
    stores,
    account: { impersonation: { permission: "users.impersonate" }, ...account },
    ...(parts === undefined ? { app: { clock } } : {}),
  });
  const ids: Record<Name, string> = { ...INITIAL };
  harness.app
    .get("/who", ({ ctx }) => `${ctx.user.displayName} by ${ctx.impersonator}`)
    .get("/fresh", { auth: useAuth({ freshSeconds: 600 }) }, () => "fresh")
    .get("/strong", { auth: useAuth({ level: "mfa" }) }, () => "strong")
    .get("/context", ({ ctx }) => JSON.stringify(ctx))
    .post("/sessions/begin", { auth: true }, ({ request, user }) => request.sessions.begin(user))
    .post("/sessions/login", { auth: true }, ({ request, user }) => request.sessions.login(user))
    .post("/sessions/one-factor", async ({ request }) => {
      const sam = await users.loadUser(ids.sam);
      if (sam !== null) await request.sessions.login(sam);
    })
    .post("/sessions/end", { auth: true }, ({ request }) => request.sessions.revokeAll())
    .post("/tokens", { auth: true }, ({ user }) => new TokenForUser(user, { secret, audience: "shop" }).tokenPair())
    .socket("/live", { auth: true }, async ({ socket, user }) => {
      socket.send(user.displayName);
      for await (const text of socket) socket.send(String(text));
    });
  onTestFinished(() => harness.app.close());
  for (const username of Object.keys(GRANTS) as Name[]) ids[username] = await userNamed(users, username);
  return {
    ...harness,
    clock,
    ids,
    objects: users.objects,
    stores,
    login: (name) => harness.session(name),
    act: (headers, name) => harness.post("/impersonation", { user: ids[name] }, undefined, headers),
    me: async (headers) => (await harness.client.get("/account/me", { headers })).json() as Record<string, unknown>,
  };
}

async function userNamed({ objects }: ImpersonationParts["users"], username: Name): Promise<string> {
  const known = await objects.get({ username });
  if (known !== null) return known.identity;
  const user = await objects.createUser({ email: `${username}@example.org`, username, password });
  await objects.grant(user, { permissions: GRANTS[username] ?? [] });
  return user.identity;
}

async function partsInMemory(clock: ManualClock): Promise<ImpersonationParts> {
  const place = await migratedPlace("SQLite");
  onTestFinished(() => place.remove());
  const stores = { ...memoryStores(), durable: new MemoryKeyValue({ clock }) };
  return { users: userModel(place.open(), { bus: stores.bus }), stores };
}
