import { PorticoApp, type PorticoAppOptions } from "portico";
import { authentication } from "portico/auth";
import { redisStores } from "portico/redis";
import { sendMail } from "./accounts/send-mail.ts";
import { User } from "./accounts/user.ts";
import { database } from "./database.ts";
import { graph } from "./graph.ts";
import { noteRoutes } from "./notes/note-routes.ts";
import { settings } from "./settings.ts";

/** Builds the application without starting it. Tests pass their own stores and logger. */
export function api(options: PorticoAppOptions = {}): PorticoApp {
  const { secret, publicUrl, redisUrl } = settings;
  const app = new PorticoApp({
    title: "my-api",
    ...(publicUrl && { publicUrl }),
    stores: options.stores ?? redisStores(redisUrl, { prefix: "my-api" }),
    cursorKeys: [secret],
    health: { checks: { database: () => database.ping() } },
    ...options,
  });
  app.onClose(() => database.destroy());

  // Authentication comes first, because everything after it needs the user. It adds the routes under /account.
  app.use(authentication({ userModel: User, secret, audience: "my-api", mailer: sendMail }));
  app.mount("/notes", noteRoutes());
  graph().mount(app);
  return app;
}
