import { type Clock, type KeyValueStore, memoryStores, NotFound, PorticoApp, type Stores } from "portico";
import {
  APIKeyAuthBackend,
  type APIKeyAuthOptions,
  APIKeys,
  type APIKeysOptions,
  AuthenticationMiddleware,
  type CreatedAPIKey,
  SimpleUser,
  useAuth,
} from "portico/auth";
import type { LogCatcher, TestClient } from "portico/testing";
import { HeaderBackend } from "../backends/recording-backend.ts";

/** Signs in as a session would. */
export const ANN: Readonly<Record<string, string>> = { "x-session": "ann" };

/** A new key, by the route that makes them. */
export async function make(
  client: TestClient,
  body: object = {},
  headers: Readonly<Record<string, string>> = ANN,
): Promise<CreatedAPIKey> {
  return (await client.post("/keys", { headers, body })).json() as CreatedAPIKey;
}

/** A request with this key. */
export function by(key: string): { readonly headers: Readonly<Record<string, string>> } {
  return { headers: { "x-api-key": key } };
}

interface KeyAppOptions extends Partial<Omit<APIKeyAuthOptions, "keys" | "store">> {
  readonly durable?: KeyValueStore;
  readonly stores?: Partial<Stores>;
  readonly clock?: Clock;
  readonly recheckSeconds?: number;
  readonly logger?: LogCatcher;
  readonly keys?: APIKeysOptions;
  readonly loadUser?: (identity: string) => Promise<SimpleUser | null>;
}

/** An application whose users make keys; beside them there is a header that signs in by a word, as a session would. */
export function keyApp(options: KeyAppOptions = {}): PorticoApp {
  const {
    durable,
    stores,
    clock,
    recheckSeconds,
    logger,
    keys: keysOptions,
    loadUser = someUser,
    ...backend
  } = options;
  const keys = new APIKeys(keysOptions);
  const app = new PorticoApp({
    logger: logger ?? false,
    ...(clock === undefined ? {} : { clock }),
    ...(recheckSeconds === undefined ? {} : { timeouts: { recheckSeconds } }),
    stores: { ...memoryStores(), ...stores, ...(durable === undefined ? {} : { durable }) },
  });
  app.use(
    new AuthenticationMiddleware({
      userModel: { loadUser },
      backend: [new HeaderBackend("session"), new APIKeyAuthBackend({ keys, ...backend })],
    }),
  );
  const who = ({ user, request }: { user: { identity: string }; request: { scope: { auth: unknown } } }): object => ({
    who: user.identity,
    auth: request.scope.auth,
  });
  app.post("/keys", { auth: useAuth() }, async ({ user, request }) =>
    keys.create(user, (await request.json()) as object),
  );
  app.get("/keys", { auth: useAuth() }, ({ user }) => keys.list(user));
  app.post("/keys/:id/renew", { auth: useAuth() }, async ({ user, path, request }) => {
    const renewed = await keys.renew(user, path.id, (await request.json()) as object);
    if (renewed === null) throw new NotFound();
    return renewed;
  });
  app.delete("/keys/:id", { auth: useAuth() }, async ({ user, path }) => {
    if (!(await keys.revoke(user, path.id))) throw new NotFound();
  });
  app.delete("/keys", { auth: useAuth() }, ({ user }) => keys.revokeAll(user));
  app.get("/me", { auth: useAuth() }, who);
  app.get("/open", who);
  app.get("/read", { auth: useAuth({ permissions: ["read:books"] }) }, who);
  app.get("/write", { auth: useAuth({ permissions: ["write:books"] }) }, who);
  app.get("/by-key", { auth: useAuth({ scopes: ["apikey"] }) }, who);
  app.socket("/socket", { auth: useAuth() }, async ({ socket, user }) => {
    socket.send(user.identity);
    for await (const message of socket) socket.send(message);
  });
  return app;
}

/** Everybody is there, and may read and write. */
async function someUser(identity: string): Promise<SimpleUser> {
  return new SimpleUser(identity, ["read:books", "write:books"]);
}
