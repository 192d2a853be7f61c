import { memoryStores } from "portico";
import type { AccountModel } from "portico/auth";
import { manualClock } from "portico/testing";
import { onTestFinished } from "vitest";
import { codeAt } from "../../../../scripts/clients/authenticator-app.ts";
import type { LASTING } from "../../../../src/auth/accounts/ownership/lasting.ts";
import { cookieHeader } from "../../../sign-in.ts";
import { SoftwareAuthenticator } from "../../factors/software-authenticator.ts";
import { FakeProvider } from "../../fake-provider.ts";
import { RecordingStore } from "../../sessions/recording-store.ts";
import { accountHarness, ann, password } from "../account-harness.ts";
import { memoryUsers } from "../memory-users.ts";

type Headers = Readonly<Record<string, string>>;

/** A caller, by what a route may require. */
export interface Caller {
  readonly isFresh: boolean;
  readonly isOwned: boolean;
  /** Whether the session has two factors, of a user who has them. `null` for a user with one factor. */
  readonly isStrong: boolean | null;
  readonly isKey?: boolean;
}

export interface Operation {
  readonly id: keyof typeof LASTING;
  readonly method: string;
  readonly path: string;
}

/** What a call of a route did. */
export interface Effect {
  readonly status: number;
  /** Whether a credential that lasts was made, changed or removed. */
  readonly isLasting: boolean;
  /** Whether it left a session that neither is the old one nor continues it. */
  readonly hasLooseSession: boolean;
}

const KINDS = ["apikey", "apikeys-of", "provider-account", "provider-accounts-of", "factors", "passkey-owner"];
const SECRET = "another password of ann";

/** Every account route of an application with all options. */
export async function operations(): Promise<readonly Operation[]> {
  const { app } = await world({ isFresh: true, isOwned: true, isStrong: null });
  const { paths } = app.openapi() as unknown as { paths: Record<string, Record<string, { operationId?: string }>> };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { operationId }]) => operationId?.startsWith("account"))
      .map(([method, { operationId }]) => ({ id: operationId as Operation["id"], method: method.toUpperCase(), path })),
  );
}

/** Calls the route as this caller, with everything that it may need, in a world of its own. */
export async function effectOf({ id, method, path }: Operation, caller: Caller): Promise<Effect> {
  const { client, users, store, call, headers, code, keyId, clock } = await world(caller);
  let sent: Headers = headers;
  let query = "";
  let body: object = {
    identifier: "ann",
    ...(id === "accountChangePassword" || caller.isFresh ? { password } : {}),
    current_password: password,
    new_password: SECRET,
    email: "new@example.org",
    name: "made by the test",
    token: "x",
    code: code(),
    user: "an unknown user",
  };
  if (id === "accountConfirmTotp") {
    const { secret = "" } = (await call("/factors/totp", { password }, headers)).json() as { secret?: string };
    body = { code: secret === "" ? "000000" : codeAt(secret, clock.now()) };
  }
  if (id === "accountAddPasskey") {
    const begun = (await call("/passkeys/options", { password }, headers)).json() as { options?: never };
    body = { credential: begun.options === undefined ? {} : new SoftwareAuthenticator().create(begun.options) };
  }
  if (id === "accountProviderCallback") {
    const begun = await call("/providers/acme/link", { password }, headers);
    const { url = "https://provider.example/" } = begun.json() as { url?: string };
    query = `?code=second&state=${new URL(url).searchParams.get("state")}`;
    sent = { ...headers, cookie: [headers["cookie"], cookieHeader(begun)["cookie"]].join("; ") };
  }
  const before = await snapshot(store, users);
  const handles = sessionsIn(store);
  const url = path.replace("{name}", "other").replace("{id}", keyId) + query;
  const target =
    id === "accountProviderCallback" || id === "accountLinkProvider" ? url.replace("/other", "/acme") : url;
  const response = await client.request(method, target, method === "GET" ? { headers: sent } : { body, headers: sent });
  const after = await snapshot(store, users);
  const loose = Object.entries(sessionsIn(store)).filter(([handle, text]) => {
    const known = Object.keys(handles);
    return !known.includes(handle) && !known.includes(`session:${(JSON.parse(text) as { origin?: string }).origin}`);
  });
  return { status: response.status, isLasting: before !== after, hasLooseSession: loose.length > 0 };
}

function sessionsIn(store: RecordingStore): Record<string, string> {
  return Object.fromEntries([...store.entries].filter(([key]) => key.startsWith("session:")));
}

async function snapshot(store: RecordingStore, { objects }: AccountModel): Promise<string> {
  const kept = [...store.entries]
    .filter(([key]) => KINDS.includes(key.split(":")[0] ?? ""))
    // Using a factor encrypts its secret again.
    .map(([key, text]) => `${key} ${text.replace(/"(?:lastStep|lastUsedAt|secret)":[^,}]+/g, "")}`)
    .toSorted();
  const address = (await objects.get({ username: "ann" }))?.email;
  return JSON.stringify([kept, address, (await objects.authenticate("ann", password)) !== null]);
}

async function world({ isFresh, isOwned, isStrong, isKey }: Caller) {
  const clock = manualClock(Date.UTC(2026, 0, 1));
  const store = new RecordingStore();
  const users = memoryUsers();
  const harness = accountHarness({
    users,
    isOwned: true,
    stores: { ...memoryStores(), durable: store },
    account: {
      passkeys: { rpName: "Shop" },
      providers: [new FakeProvider("acme"), new FakeProvider("other")],
      signInMails: true,
      impersonation: { permission: "read:books" },
    },
    app: { clock },
  });
  harness.app.post("/one-factor", async ({ request }) => {
    const user = await users.objects.get({ email: ann.email });
    if (user !== null) await request.sessions.login(user);
  });
  onTestFinished(() => harness.app.close());
  const call = (path: string, body: object, headers: Headers) => harness.post(path, body, undefined, headers);
  const objects = isOwned ? harness.users.objects : users.objects;
  await objects.createUser(ann);
  let headers = await harness.session("ann");
  let secret = "";
  let keyId = "x";
  if (isOwned) {
    const key = (await call("/keys", {}, headers)).json() as { id: string; key: string };
    keyId = key.id;
    const begun = await call("/providers/other/link", {}, headers);
    const state = new URL((begun.json() as { url: string }).url).searchParams.get("state");
    const cookie = [headers["cookie"], cookieHeader(begun)["cookie"]].join("; ");
    await harness.client.get(`/account/providers/other/callback?code=ann&state=${state}`, { headers: { cookie } });
    if (isKey === true) headers = { "x-api-key": key.key };
  }
  if (isStrong !== null) {
    secret = ((await call("/factors/totp", {}, headers)).json() as { secret: string }).secret;
    const confirmed = await call("/factors/totp/confirm", { code: codeAt(secret, clock.now()) }, headers);
    headers = cookieHeader(isStrong ? confirmed : await harness.client.post("/one-factor"));
  }
  clock.advance(isFresh ? 60_000 : 3_600_000);
  return {
    ...harness,
    users,
    store,
    call,
    headers,
    keyId,
    clock,
    code: () => (secret === "" ? "000000" : codeAt(secret, clock.now())),
  };
}
