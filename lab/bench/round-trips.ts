import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "redis";
import { authentication, useAuth } from "../../src/auth/index.ts";
import { rateLimit } from "../../src/kernel/limits/rate-limit.ts";
import { PorticoApp } from "../../src/portico-app.ts";
import { redisStores } from "../../src/redis/index.ts";
import { migrate, openDatabase, userModel } from "../../src/sql/index.ts";
import type { CounterStore } from "../../src/stores/counter-store.ts";
import { topic } from "../../src/stores/pub-sub.ts";
import { type TestClient, testClient } from "../../src/testing/index.ts";
import { forgetKeys } from "../servers/forget-keys.ts";
import { ownSchema } from "../servers/own-schema.ts";
import { ByteCounter } from "./round-trips/byte-counter.ts";

const USERS = 20;
const ROUNDS = 5;
const PASSWORD = "correct horse battery staple";

/** What one request costs Redis and PostgreSQL. */
interface Cost {
  readonly kind: string;
  readonly commands: number;
  readonly redisBytes: number;
  readonly statements: number;
  readonly postgresBytes: number;
  /** Keys that requests of different users have in common. */
  readonly hot: readonly string[];
}

type Visit = (client: TestClient, headers: Readonly<Record<string, string>>, n: number) => Promise<{ status: number }>;

/**
 * Commands and bytes to Redis, and statements and bytes to PostgreSQL, for each kind of request: users in PostgreSQL, sessions,
 * counters and events in Redis. Keys that many users share are named, because a cluster has each of them on one node.
 */
export async function run(): Promise<void> {
  const prefix = `p${randomUUID().slice(0, 8)}`;
  const schema = await ownSchema(`portico_${randomUUID().replaceAll("-", "")}`);
  const [redis, postgres] = [new ByteCounter(6379), new ByteCounter(5432)];
  let statements = 0;
  const database = openDatabase(schema.url.replace(":5432", `:${await postgres.listen()}`), {
    onStatement: () => {
      statements += 1;
    },
  });
  const stores = redisStores(`redis://127.0.0.1:${await redis.listen()}`, { prefix });
  const monitor = await createClient().connect();
  const seen: string[][] = [];
  await monitor.monitor((line) => {
    const words = [...line.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, word = ""]) => word);
    // A script repeats its own commands.
    if (!/\[\d+ lua\]/.test(line) && words.some((word) => word.startsWith(prefix))) seen.push(words);
  });
  try {
    await migrate(database, "up");
    const User = userModel(database);
    // They count, but never reject a request.
    const counters: CounterStore = {
      increment: async (key, windowMs) => ({ ...(await stores.counters.increment(key, windowMs)), value: 1 }),
      reset: (key, windowMs) => stores.counters.reset(key, windowMs),
    };
    const app = new PorticoApp({ logger: false, stores: { ...stores, counters } });
    app.use(
      authentication({
        userModel: User,
        secret: randomUUID() + randomUUID(),
        audience: "bench",
        mailer: async () => {},
        onEvent() {},
      }),
    );
    const changed = topic<number>("changed");
    app.get("/open", () => "open");
    app.get("/limited", { middleware: [rateLimit({ perMinute: 1_000, name: "limited" })] }, () => "limited");
    app.get("/mine", { auth: useAuth() }, () => "mine");
    app.post("/event", { auth: useAuth() }, ({ ctx }) => ctx.pubsub.publish(changed, 1));
    const client = testClient(app);
    const names = Array.from({ length: USERS }, (_, n) => `user-${n}`);
    for (const username of names)
      await User.objects.createUser({ email: `${username}@example.org`, username, password: PASSWORD });
    const costs: Cost[] = [];
    const measure = async (kind: string, headers: readonly Readonly<Record<string, string>>[], visit: Visit) => {
      for (const [n, header] of headers.entries()) await visit(client, header, n);
      await sleep(50);
      const before = [seen.length, redis.sent + redis.received, statements, postgres.sent + postgres.received] as const;
      for (let round = 0; round < ROUNDS; round++)
        for (const [n, header] of headers.entries()) {
          const { status } = await visit(client, header, n);
          if (status >= 400) throw new Error(`${kind}: ${status}`);
        }
      await sleep(50);
      const count = ROUNDS * headers.length;
      costs.push({
        kind,
        commands: (seen.length - before[0]) / count,
        redisBytes: (redis.sent + redis.received - before[1]) / count,
        statements: (statements - before[2]) / count,
        postgresBytes: (postgres.sent + postgres.received - before[3]) / count,
        hot: hotKeys(seen.slice(before[0]), prefix, count),
      });
    };
    const sign = async (path: string, username: string) =>
      client.post(path, { body: { identifier: username, password: PASSWORD } });
    const anyone = names.map(() => ({}));
    await measure("open route", anyone, (to) => to.get("/open"));
    await measure("route with a rate limit", anyone, (to) => to.get("/limited"));
    await measure("sign-in with a session", anyone, (_, __, n) => sign("/account/login", names[n] ?? ""));
    await measure("sign-in with tokens", anyone, (_, __, n) => sign("/account/token", names[n] ?? ""));
    const sessions = await Promise.all(
      names.map(async (name) => ({
        cookie: (await sign("/account/login", name)).cookies.map((cookie) => cookie.split(";", 1)[0]).join("; "),
      })),
    );
    const tokens = await Promise.all(
      names.map(async (name) => {
        const { access_token } = (await sign("/account/token", name)).json() as { readonly access_token: string };
        return { authorization: `Bearer ${access_token}` };
      }),
    );
    await measure("route by session", sessions, (to, headers) => to.get("/mine", { headers }));
    await measure("route by token", tokens, (to, headers) => to.get("/mine", { headers }));
    await measure("event by session", sessions, (to, headers) => to.post("/event", { headers }));
    report(costs);
    await app.close();
  } finally {
    monitor.destroy();
    await stores.close();
    await database.destroy();
    redis.close();
    postgres.close();
    await forgetKeys("redis://127.0.0.1:6379", prefix);
    await schema.drop();
  }
}

/** Keys in at least half of the requests. Each user has requests of their own, so these do not belong to one of them. */
function hotKeys(commands: readonly (readonly string[])[], prefix: string, requests: number): string[] {
  const counts = new Map<string, number>();
  for (const words of commands)
    for (const word of words) if (word.startsWith(prefix)) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].filter(([, count]) => count >= requests / 2).map(([key]) => key.slice(prefix.length + 1));
}

function report(costs: readonly Cost[]): void {
  console.log("| request | Redis commands | bytes | SQL statements | bytes | shared keys |");
  console.log("|---|--:|--:|--:|--:|---|");
  for (const { kind, commands, redisBytes, statements, postgresBytes, hot } of costs)
    console.log(
      `| ${kind} | ${commands.toFixed(1)} | ${Math.round(redisBytes)} | ${statements.toFixed(1)} | ${Math.round(postgresBytes)} | ${hot.join(", ") || "none"} |`,
    );
  console.log(`round-trips: ${costs.length} kinds of request`);
}
