import { PorticoApp, type PorticoAppOptions } from "portico";
import type { Mailer } from "portico/auth";
import { accountEventRoutes } from "./accounts/account-events.ts";
import { signIn } from "./accounts/sign-in.ts";
import { authorRoutes } from "./authors/author-routes.ts";
import { bookRoutes } from "./books/book-routes.ts";
import { database } from "./database.ts";
import { shopGraph } from "./graph.ts";
import { operations } from "./operations/operations.ts";
import { orderRoutes } from "./orders/order-routes.ts";
import { shopPage } from "./page/shop-page.ts";
import { settings } from "./settings.ts";
import { stores } from "./stores.ts";

export interface BookshopOptions {
  /** Sends emails. @default prints them */
  readonly mailer?: Mailer;
  /** Options of the framework. Tests pass their logger here. */
  readonly app?: PorticoAppOptions;
}

/** Builds the application without starting it: the server listens, and tests send requests to it directly. */
export function bookshop({ mailer, app: options }: BookshopOptions = {}): PorticoApp {
  const app = new PorticoApp({
    brand: { accent: "#1f6f5c" },
    title: "Bookshop",
    version: "2.0.0",
    stores,
    ...(settings.publicUrl === undefined ? {} : { publicUrl: settings.publicUrl }),
    cursorKeys: [settings.secret],
    // A page of the shop takes a few dozen units.
    budget: { userPerMinute: 100_000, addressPerMinute: 50_000, maxInFlight: 200 },
    health: { checks: { database: () => database.ping() } },
    ...options,
  });
  app.onStart(() => database.check());
  app.onClose(() => database.destroy());

  // Authentication comes first, because everything after it needs the user.
  app.use(signIn(mailer));

  shopGraph(operations(app)).mount(app);
  app.mount("/books", bookRoutes());
  app.mount("/authors", authorRoutes());
  app.mount("/orders", orderRoutes());
  app.mount("/account-events", accountEventRoutes());
  app.mount("", shopPage());
  return app;
}
