import {
  AuthenticationMiddleware,
  SessionAuthBackend,
  SessionMiddleware,
  type SessionMiddlewareOptions,
  SimpleUser,
  useAuth,
} from "../../src/auth/index.ts";
import { type Clock, type LogOptions, PorticoApp, rateLimit, type Stores } from "../../src/index.ts";

/** An application that keeps everything in its stores, so that several processes act as one. */
export function shopApp(
  stores: Stores,
  logger: LogOptions | false = false,
  sessions: Partial<SessionMiddlewareOptions> = {},
  clock?: Clock,
): PorticoApp {
  const app = new PorticoApp({ stores, logger, ...(clock === undefined ? {} : { clock }) });
  app.use(new SessionMiddleware({ secret: "a secret of the tests, which is long enough", ...sessions }));
  app.use(new AuthenticationMiddleware({ userModel: SimpleUser, backend: new SessionAuthBackend() }));
  app.post("/login/:name", ({ request, path }) => request.sessions.login(new SimpleUser(path.name)));
  app.get("/me", { auth: useAuth() }, ({ user }) => user.identity);
  app.get("/either", { auth: useAuth({ required: false }) }, ({ user }) => user.identity);
  app.post("/logout", ({ request }) => request.sessions.logout());
  app.post("/revoke-all", ({ request }) => request.sessions.revokeAll());
  app.post("/orders", { middleware: [rateLimit({ perHour: 10, name: "orders" })] }, () => "ordered");
  return app;
}
