import { setImmediate as turn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { sql } from "kysely";
import { currentContext, PorticoApp, rateLimit } from "portico";
import { AuthenticationMiddleware, SimpleUser, useAuth } from "portico/auth";
import { openDatabase } from "portico/sql";
import { liveClient } from "portico/testing";
import { expect, it, vi } from "vitest";
import { HeaderBackend } from "../../auth/backends/recording-backend.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** Waits until they are collected, while what they have started is still there. */
async function gone(seen: readonly WeakRef<object>[]): Promise<void> {
  await vi.waitFor(
    async () => {
      collect();
      await turn();
      // The last one may still be at hand.
      expect(seen.filter((ref) => ref.deref() !== undefined).length).toBeLessThanOrEqual(1);
    },
    { timeout: 60_000 },
  );
}

it("a window of a limit that is open for an hour does not keep the request in memory that opened it", async () => {
  const seen: WeakRef<object>[] = [];
  const app = new PorticoApp({ logger: false, trustedProxies: ["loopback"] });
  app.get("/", { middleware: [rateLimit({ perHour: 10 })] }, ({ ctx }) => {
    seen.push(new WeakRef(ctx));
    return "ok";
  });
  const client = await liveClient(app);

  for (let n = 0; n < 20; n++) await client.get("/", { headers: { "x-forwarded-for": `192.0.2.${n}` } });

  expect(seen).toHaveLength(20);
  await gone(seen);
  await client.close();
});

it("a connection of a pool does not keep the request in memory that opened it", async () => {
  const database = openDatabase("postgres://root@127.0.0.1:5432/test", { poolSize: 8 });
  const seen: WeakRef<object>[] = [];
  const app = new PorticoApp({ logger: false });
  app.get("/", async ({ ctx }) => {
    seen.push(new WeakRef(ctx));
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid, pg_sleep(0.1)`.execute(database);
    return rows;
  });
  const client = await liveClient(app);

  const answers = await Promise.all(
    Array.from({ length: 6 }, () => client.get("/", { headers: { connection: "close" } })),
  );

  expect(new Set(answers.map((answer) => answer.text())).size).toBeGreaterThan(3);
  await gone(seen);
  await client.close();
  await database.destroy();
});

it("the look again at a credential of an open socket is done in the context of that socket", async () => {
  const loaded: string[] = [];
  const app = new PorticoApp({ logger: false, timeouts: { recheckSeconds: 0.05 } });
  app.use(
    new AuthenticationMiddleware({
      userModel: {
        async loadUser(identity) {
          loaded.push(`${identity} for ${currentContext()?.request.headers["x-jwt"]}`);
          return new SimpleUser(identity);
        },
      },
      backend: new HeaderBackend("jwt"),
    }),
  );
  app.socket("/", { auth: useAuth() }, async ({ socket }) => {
    for await (const message of socket) socket.send(message);
  });
  const client = await liveClient(app);
  const sockets = [await client.socket("/", { headers: { "x-jwt": "ann" } })];
  sockets.push(await client.socket("/", { headers: { "x-jwt": "bob" } }));

  await vi.waitFor(() => expect(loaded.length).toBeGreaterThan(6), 60_000);

  expect(new Set(loaded)).toEqual(new Set(["ann for ann", "bob for bob"]));
  expect(sockets).toHaveLength(2);
  await client.close();
});
