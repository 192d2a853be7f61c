import { setTimeout as sleep } from "node:timers/promises";

// One bookshop, in a rolling deploy for example. Its database and Redis are in the environment.

/** How a bookshop of the run is started. */
export interface RollingServerSettings {
  /** The first process fills the tables. */
  readonly seed: { readonly books: number; readonly users: number } | null;
  /** Options of the application. */
  readonly app: object;
  /** Whether there is also a route that takes three seconds. @default true */
  readonly hasSlowRoute?: boolean;
}

/** The shop declares the users of a whole program, so it is imported without its types. */
interface Shop {
  readonly bookshop: (options: object) => {
    get(path: string, handler: () => Promise<string>): unknown;
    listen(at: object): Promise<{ port: number }>;
  };
}

const settings = JSON.parse(process.argv[2] ?? "") as RollingServerSettings;
if (settings.seed !== null) {
  const { migrateAll } = (await shopModule("migrations/migrate-all.ts")) as { migrateAll: () => Promise<void> };
  const { seed } = (await shopModule("seed/seed.ts")) as { seed: (size: object) => Promise<void> };
  await migrateAll();
  await seed(settings.seed);
}
const { bookshop } = (await shopModule("app.ts")) as Shop;
const app = bookshop({
  mailer: () => Promise.resolve(),
  app: { logger: { level: "error" }, ...settings.app },
});
if (settings.hasSlowRoute ?? true) app.get("/slow", () => sleep(3_000, "late"));
const { port } = await app.listen({ port: 0 });
process.send?.({ port });
// Otherwise the channel would keep the process alive after its shutdown.
process.once("SIGTERM", () => process.disconnect());

function shopModule(path: string): Promise<unknown> {
  return import(new URL(`../../examples/bookshop/src/${path}`, import.meta.url).href);
}
