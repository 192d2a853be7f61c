import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { authentication, useAuth } from "../../src/auth/index.ts";
import { Depend, type LogOptions, memoryStores, PorticoApp, rateLimit, type Stores } from "../../src/index.ts";
import { CursorPagination } from "../../src/pagination/index.ts";
import { redisStores } from "../../src/redis/index.ts";
import { type Database, openDatabase, userModel } from "../../src/sql/index.ts";
import type { AliveCount } from "./alive-count.ts";
import { CountedRedisWindows, CountedWindows } from "./counted-windows.ts";
import type { OpenCount } from "./open-count.ts";
import { noteList, soakGraph, ticked, unitOfWork } from "./soak-graph.ts";
import { DEADLINES, type SoakSettings } from "./soak-settings.ts";
import { fillTables, type Tables } from "./soak-tables.ts";

export interface SoakApp {
  readonly app: PorticoApp;
  readonly stores: Stores;
}

const TICK_MS = 100;
const entry = z.object({ number: z.int(), text: z.string() });

/** The application that is soaked: routes, accounts, a graph and sockets over one database. */
export async function soakApp(
  settings: SoakSettings,
  { open, alive }: { readonly open: OpenCount; readonly alive: AliveCount },
  logger: LogOptions,
): Promise<SoakApp> {
  const stores = storesOf(settings);
  const database = openDatabase<Tables>(settings.database, settings.faults === null ? {} : DEADLINES);
  if ((settings.faults?.restartedOn ?? null) === null) await fillTables(database, stores.bus);

  const app = new PorticoApp({
    stores,
    logger,
    // Clients say by X-Forwarded-For who they are: limits then count each of them on its own.
    trustedProxies: ["loopback"],
    cursorKeys: ["a key of the soak that signs its cursors"],
    // A machine that stands still for some seconds must not make clients late.
    timeouts: { headersSeconds: 12, requestSeconds: 30, recheckSeconds: 5, graceSeconds: 1 },
    // Collections stop the process for longer than any load would, and so does a machine that is busy with something else.
    load: { report: true },
    shutdown: { signals: [], socketSeconds: 0, deadlineSeconds: 5 },
    health: { checks: { database: () => database.ping() } },
  });
  app.use(async (ctx, next) => {
    alive.see("contexts", ctx);
    await next();
  });
  app.use(
    authentication({
      userModel: userModel(database, { bus: stores.bus }),
      secret: "a secret of the soak, and of nothing else",
      audience: "soak",
      mailer: async () => {},
      onEvent: () => {},
    }),
  );

  const newest = new CursorPagination({
    order: [
      ["written_at", "desc"],
      ["id", "desc"],
    ],
    defaultPageSize: 25,
  });
  const nameOf = settings.leak === "identity" ? previousName() : ({ displayName }: Named) => displayName;
  const desk = Depend(open.provider(() => ({ isOpen: true })));
  soakGraph({ database, open, newest, directory: settings.directory }).mount(app);
  app.get("/notes", { params: { desk } }, ({ response }) =>
    response.apaginate(noteList(database), { strategy: newest }),
  );
  app.get("/private", { auth: useAuth(), params: { desk } }, ({ user }) => ({ name: nameOf(user) }));
  app.get("/forbidden", { auth: useAuth({ permissions: ["read:secrets"] }), params: { desk } }, () => "a secret");
  app.get("/limited", { middleware: [rateLimit({ perMinute: 3, name: "limited" })] }, () => "seldom");
  app.post(
    "/small",
    { maxBody: "1kb", body: z.object({ text: z.string() }), params: { desk } },
    async ({ body, desk: { isOpen } }) => ({ length: body.text.length, isOpen }),
  );
  if (settings.leak === "acknowledgement") acknowledgeEarly(app, database);
  else
    app.post(
      "/entries",
      { auth: useAuth(), body: entry, params: { unit: Depend(unitOfWork(database, open)) } },
      async ({ body, unit, user }) => {
        await unit.insertInto("entries").values(body).execute();
        return { ...body, by: nameOf(user) };
      },
    );
  app.get("/slow", { params: { desk } }, async ({ request }) => {
    await sleep(300, undefined, { signal: request.signal }).catch(() => {});
    return "late";
  });
  app.get("/stream", { params: { desk } }, ({ response }) => response.stream(open.iterate(chunks()), "text/plain"));
  app.socket("/echo", { params: { desk } }, async ({ socket }) => {
    for await (const message of socket) socket.send(message);
  });

  let n = 0;
  const tick = async (): Promise<void> => {
    await stores.bus.publish(ticked, n++ % 1_000).catch((err: unknown) => app.log.error({ err }, "a tick was lost"));
  };
  const ticking = setInterval(() => void tick(), TICK_MS);
  app.onClose(async () => {
    clearInterval(ticking);
    await database.destroy();
  });
  return { app, stores };
}

/** The mistake that the checker of acknowledged writes has to find. */
function acknowledgeEarly(app: PorticoApp, database: Database<Tables>): void {
  app.post("/entries", { auth: useAuth(), body: entry }, async ({ body, user }) => {
    void sleep(200)
      .then(() => database.insertInto("entries").values(body).execute())
      .catch(() => {});
    return { ...body, by: user.displayName };
  });
}

interface Named {
  readonly displayName: string;
}

/** The mistake that the checker of identities has to find: now and then, the user of the request before. */
function previousName(): (user: Named) => string {
  let [count, last] = [0, ""];
  return ({ displayName }) => {
    const previous = last;
    last = displayName;
    return ++count % 20 === 0 ? previous : displayName;
  };
}

function storesOf({ redis, faults }: SoakSettings): Stores {
  if (redis === null) {
    const stores = memoryStores();
    return { ...stores, counters: new CountedWindows(stores.counters) };
  }
  const options = { prefix: redis.prefix };
  const stores = redisStores(redis.url, options);
  return faults === null ? stores : { ...stores, counters: new CountedRedisWindows(redis.url, options) };
}

async function* chunks(): AsyncGenerator<string, void, void> {
  for (let n = 0; n < 40; n++) {
    yield "x".repeat(16_384);
    await sleep(10);
  }
}
