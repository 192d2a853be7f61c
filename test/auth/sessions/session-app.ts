import { type Clock, type KeyValueStore, memoryStores, NotFound, PorticoApp } from "portico";
import {
  AuthenticationMiddleware,
  SessionAuthBackend,
  SessionMiddleware,
  type SessionMiddlewareOptions,
  SimpleUser,
  useAuth,
} from "portico/auth";
import type { LogCatcher, TestClient, TestRequest, TestResponse } from "portico/testing";
import { type CookieHeader, signIn as postSignIn } from "../../sign-in.ts";
import { HeaderBackend } from "../backends/recording-backend.ts";

export const SECRET: string = "a secret of the tests, which is long enough";
export const COOKIE: string = "__Host-portico_session";

interface SessionAppOptions extends Partial<SessionMiddlewareOptions> {
  readonly durable?: KeyValueStore;
  readonly clock?: Clock;
  readonly logger?: LogCatcher;
  readonly origins?: readonly `https://${string}`[];
  readonly loadUser?: (identity: string) => Promise<SimpleUser | null>;
}

/** An application that people sign in to by a word, and out of. Beside the session there are headers to sign in by. */
export function sessionApp(options: SessionAppOptions = {}): PorticoApp {
  const {
    durable,
    clock,
    logger,
    origins = [],
    loadUser = (identity) => SimpleUser.loadUser(identity),
    ...rest
  } = options;
  const app = new PorticoApp({
    logger: logger ?? false,
    origins,
    ...(clock === undefined ? {} : { clock }),
    ...(durable === undefined ? {} : { stores: { ...memoryStores(), durable } }),
  });
  app.use(new SessionMiddleware({ secret: SECRET, ...rest }));
  app.use(
    new AuthenticationMiddleware({
      userModel: { loadUser },
      backend: [new HeaderBackend("jwt"), new HeaderBackend("apikey"), new SessionAuthBackend()],
    }),
  );
  const who = ({ user, request }: { user: { identity: string }; request: { scope: { auth: unknown } } }): object => ({
    who: user.identity,
    auth: request.scope.auth,
  });
  app.post("/login/:name", async ({ request, path, query }) => {
    await request.sessions.login(new SimpleUser(path.name), { remember: query["remember"] !== undefined });
    return { who: request.user.identity, auth: request.scope.auth };
  });
  app.post("/logout", async ({ request }) => {
    await request.sessions.logout();
    return { who: request.user.identity };
  });
  app.get("/me", { auth: useAuth() }, who);
  app.post("/act", { auth: useAuth() }, who);
  app.get("/open", who);
  app.post("/open", who);
  app.get("/either", { auth: useAuth({ required: false }) }, who);
  app.get("/sessions", { auth: useAuth() }, ({ request }) => request.sessions.list());
  app.get("/session-pages", { auth: useAuth() }, async ({ request, response }) =>
    response.paginate(await request.sessions.list()),
  );
  app.delete("/sessions/:id", { auth: useAuth() }, async ({ request, path }) => {
    if (!(await request.sessions.revoke(path.id))) throw new NotFound();
  });
  app.post("/revoke-others", ({ request }) => request.sessions.revokeOthers());
  app.post("/revoke-all", ({ request }) => request.sessions.revokeAll());
  app.socket("/socket", { auth: useAuth() }, ({ socket, user }) => socket.send(user.identity));
  return app;
}

/** The pair that a browser would send back, or `null` if the response does not set the cookie or deletes it. */
export function cookieOf(answer: TestResponse): string | null {
  const [pair] = answer.cookies.filter((entry) => entry.startsWith(`${COOKIE}=`)).map((entry) => entry.split(";")[0]);
  return pair === undefined || pair === `${COOKIE}=` ? null : pair;
}

/** Whether the response deletes the cookie. */
export function isCleared(answer: TestResponse): boolean {
  return answer.cookies.some((entry) => entry.startsWith(`${COOKIE}=;`) && entry.includes("Max-Age=0"));
}

/** Signs in, and gives what every further request brings along. */
export async function signIn(
  client: TestClient,
  name: string,
  { remember = false, headers = {} }: { remember?: boolean; headers?: Record<string, string> } = {},
): Promise<TestRequest & { readonly headers: CookieHeader }> {
  return { headers: await postSignIn(client, `/login/${name}${remember ? "?remember=1" : ""}`, { headers }) };
}

/** The id inside a cookie. */
export function idOf(cookie: string): string {
  return (cookie.split("=")[1] as string).split(".")[0] as string;
}
