import { randomBytes } from "node:crypto";
import { type Kysely, sql } from "kysely";
import {
  AuthenticationMiddleware,
  accountRoutes,
  SessionAuthBackend,
  SessionMiddleware,
  SimpleUser,
  useAuth,
} from "../../src/auth/index.ts";
import { field, Graph, mutation, schema, subscription, t } from "../../src/graphql/index.ts";
import { memoryStores, PorticoApp, prometheus, type Topic, topic } from "../../src/index.ts";
import { NatsPubSub } from "../../src/nats/index.ts";
import { CursorPagination } from "../../src/pagination/index.ts";
import { type RedisAddress, redisStores } from "../../src/redis/index.ts";
import {
  type Database,
  openDatabase,
  type PorticoTables,
  tableHandler,
  transaction,
  userModel,
} from "../../src/sql/index.ts";
import { openMariaDb } from "./open-maria-db.ts";

/** Where the process finds what may break. */
export interface FaultAppSettings {
  readonly database?: string;
  /** A replica of the database. */
  readonly replica?: string;
  readonly redis?: RedisAddress;
  readonly nats?: string;
  /** The folder of uploads. @default no uploads */
  readonly uploads?: string;
  /** Whether the database has users, who sign in with passwords and place orders. @default false */
  readonly isShop?: boolean;
}

/** The application of a cell, and what its process needs. */
export interface FaultApp {
  readonly app: PorticoApp;
  readonly database: Kysely<Tables>;
}

interface Tables {
  readonly things: { readonly id: number; readonly text: string };
}

const DEADLINE_SECONDS = 3;
/** A page of a database has room for a few rows only, so a full disk concerns the next writes. */
const ROW_BYTES = 1_400;
/** Uploads above it are on the disk. */
export const SPILL_BYTES = 1_024;

const SECRET = "a secret of the faults, which is long enough";
const limits = { timeoutSeconds: 1 };
const news = topic<number>("news");
export const ordered: Topic<number> = topic<number>("ordered");
/** The text of one event for a subscriber. */
const NEWS_BYTES = 2_000;
export const PREFIX = "faults";
const strategy = new CursorPagination({ order: [["id", "asc"]] });

export function faultApp(settings: FaultAppSettings): FaultApp {
  const { database, readFrom, ping } = open(settings);
  const stores =
    settings.redis === undefined ? memoryStores() : redisStores(settings.redis, { ...limits, prefix: PREFIX });
  const bus = settings.nats === undefined ? stores.bus : new NatsPubSub(settings.nats, limits);
  const metrics = prometheus();
  const app = new PorticoApp({
    stores: { durable: stores.durable, counters: stores.counters, bus },
    shutdown: { delaySeconds: 0, deadlineSeconds: DEADLINE_SECONDS },
    timeouts: { handlerSeconds: 3, headersSeconds: 5, requestSeconds: 8 },
    health: { checks: { database: ping } },
  }).onRequest(metrics);
  app.onClose(() => database.destroy());
  app.use(new SessionMiddleware({ secret: SECRET }));
  app.use(new AuthenticationMiddleware({ userModel: SimpleUser, backend: new SessionAuthBackend() }));
  app.post("/login/:name", ({ request, path }) => request.sessions.login(new SimpleUser(path.name)));
  app.get("/me", { auth: useAuth() }, ({ user }) => user.identity);
  app.get("/read", ({ response }) =>
    response.apaginate(tableHandler(readFrom.selectFrom("things").selectAll()), { strategy }),
  );
  app.get("/write/:id", async ({ path }) => {
    await database
      .insertInto("things")
      .values({ id: Number(path.id), text: randomBytes(ROW_BYTES).toString("base64") })
      .execute();
  });
  app.get("/store", () => stores.durable.set("a", "1", 60_000));
  app.get("/revoke/:id", async ({ path }) => {
    await stores.durable.set(`revoked-${path.id}`, "1", 600_000);
    await stores.durable.confirm?.(`revoked-${path.id}`);
  });
  app.get("/publish", ({ ctx }) => ctx.pubsub.publish(news, 1));
  app.get("/metrics", ({ response }) => response.text(metrics.text()));
  mountGraph(app, settings);
  if (settings.isShop === true) mountShop(app, database as Database<Tables & PorticoTables>);
  return { app, database };
}

interface Opened {
  readonly database: Kysely<Tables>;
  readonly readFrom: Pick<Kysely<Tables>, "selectFrom">;
  readonly ping: () => Promise<unknown>;
}

function open({ database: url = "sqlite::memory:", replica }: FaultAppSettings): Opened {
  if (url.startsWith("mysql:")) {
    const database = openMariaDb<Tables>(url);
    return { database, readFrom: database, ping: () => sql`select 1`.execute(database) };
  }
  const options = url.startsWith("postgres") ? { ...limits, statementSeconds: 2 } : limits;
  const database = openDatabase<Tables>(
    replica === undefined ? url : { primary: url, replicas: [replica] },
    replica === undefined ? options : { ...options, maxLagSeconds: 1 },
  );
  return {
    database,
    readFrom: replica === undefined ? database : database.replica(),
    ping: () => database.ping(),
  };
}

/** A GraphQL endpoint with events, and with uploads if they have a folder. */
function mountGraph(app: PorticoApp, { uploads: directory }: FaultAppSettings): void {
  const size = mutation(t.int, { params: { file: t.upload } })(async ({ file }) => {
    let bytes = 0;
    for await (const chunk of file.stream()) bytes += chunk.length;
    return bytes;
  });
  const latest = subscription(t.string)(async function* ({ ctx }) {
    for await (const count of ctx.pubsub.subscribe(news)) yield `${count}`.repeat(NEWS_BYTES);
  });
  const operations = schema({
    query: { hello: field(t.string)(() => "world") },
    mutation: { size },
    subscription: { latest },
  });
  const uploads = { enabled: true, spillAbove: SPILL_BYTES, ...(directory === undefined ? {} : { directory }) };
  new Graph(operations, { uploads }).mount(app);
}

/** Accounts, and orders whose events are sent after the commit. */
function mountShop(app: PorticoApp, database: Database<Tables & PorticoTables>): void {
  app.mount(
    "/account",
    accountRoutes({
      userModel: userModel(database),
      secret: SECRET,
      audience: "faults",
      mailer: async () => {},
      onEvent() {},
    }),
  );
  app.post("/order/:id", { params: { trx: transaction(database) } }, async ({ trx, path, ctx }) => {
    await trx
      .insertInto("things")
      .values({ id: Number(path.id), text: "an order" })
      .execute();
    await ctx.pubsub.publish(ordered, Number(path.id));
  });
}
