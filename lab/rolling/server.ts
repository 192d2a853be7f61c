import { setTimeout as sleep } from "node:timers/promises";

// One bookshop of a rolling deploy. Its database and Redis are in the environment.

/** How a bookshop of the run is started. */
export interface RollingServerSettings {
  /** The first process fills the tables. */
  readonly fillsTables: boolean;
  /** The option of the application. */
  readonly shutdown: { readonly delaySeconds?: number; readonly socketSeconds?: number };
}

/** The shop declares the users of a whole program, so it is imported without its types. */
interface Shop {
  readonly bookshop: (options: object) => {
    get(path: string, handler: () => Promise<string>): unknown;
    listen(at: object): Promise<{ port: number }>;
  };
}

const settings = JSON.parse(process.argv[2] ?? "") as RollingServerSettings;
if (settings.fillsTables) {
  const { migrateAll } = (await shopModule("migrations/migrate-all.ts")) as { migrateAll: () => Promise<void> };
  const { seed } = (await shopModule("seed/seed.ts")) as { seed: (size: object) => Promise<void> };
  await migrateAll();
  await seed({ books: 200, users: 10 });
}
const { bookshop } = (await shopModule("app.ts")) as Shop;
const app = bookshop({
  mailer: () => Promise.resolve(),
  app: {
    logger: { level: "error" },
    shutdown: settings.shutdown,
    // A busy machine must not make the server shed load.
    load: { maxWaitMs: 60_000, maxEventLoopDelayMs: 60_000 },
  },
});
app.get("/slow", () => sleep(3_000, "late"));
const { port } = await app.listen({ port: 0 });
process.send?.({ port });
// Otherwise the channel would keep the process alive after its shutdown.
process.once("SIGTERM", () => process.disconnect());

function shopModule(path: string): Promise<unknown> {
  return import(new URL(`../../examples/bookshop/src/${path}`, import.meta.url).href);
}
