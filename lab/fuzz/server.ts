import type { Server } from "node:http";
import { reportProcess } from "./report-process.ts";

/** What a bookshop under fuzzing is started with. Its database and Redis are in the environment. */
export interface FuzzServerSettings {
  /** The first process fills the tables. */
  readonly fillsTables: boolean;
}

/** The shop declares the users of a whole program, so it is imported without its types. */
interface Shop {
  readonly bookshop: (options: object) => {
    readonly engine: { readonly server: Server };
    listen(at: object): Promise<{ port: number }>;
  };
}

const BOOKS = 2_000;
const USERS = 40;
const settings = JSON.parse(process.argv[2] ?? "") as FuzzServerSettings;

if (settings.fillsTables) {
  const { migrateAll } = (await shopModule("migrations/migrate-all.ts")) as { migrateAll: () => Promise<void> };
  const { seed } = (await shopModule("seed/seed.ts")) as { seed: (size: object) => Promise<void> };
  await migrateAll();
  await seed({ books: BOOKS, users: USERS });
}
const log: string[] = [];
const { bookshop } = (await shopModule("app.ts")) as Shop;
const app = bookshop({
  mailer: () => Promise.resolve(),
  app: {
    logger: { level: "debug", stream: { write: (line: string) => void log.push(line) } },
    // On a busy machine, the usual limit would reject inputs before they are read.
    load: { maxWaitMs: 10_000 },
  },
});
const { port } = await app.listen({ port: 0 });
reportProcess(app.engine.server, port, log);
process.on("disconnect", () => process.exit());

function shopModule(path: string): Promise<unknown> {
  return import(new URL(`../../examples/bookshop/src/${path}`, import.meta.url).href);
}
