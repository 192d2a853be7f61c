import { sql } from "kysely";
import { redisStores } from "portico/redis";
import { accountLog, accountLogMigration, type Database, migrate, userModel } from "portico/sql";
import { liveClient } from "portico/testing";
import { expect, it, onTestFinished, vi } from "vitest";
import { newPrefix, SHARED_URL } from "../../../lab/servers/redis-server.ts";
import { removeKeys } from "../../redis/remove-keys.ts";
import { newPlace } from "../../sql/accounts/databases.ts";
import { type ImpersonationHarness, impersonationHarness } from "./impersonation-harness.ts";

/** Two applications with the same PostgreSQL and the same Redis. */
async function two(): Promise<{
  readonly one: ImpersonationHarness;
  readonly other: ImpersonationHarness;
  readonly database: Database;
}> {
  const place = await newPlace("PostgreSQL");
  const database = place.open({ poolSize: 5 });
  await migrate(database, "up", { migrations: [accountLogMigration] });
  const prefix = newPrefix();
  const log = accountLog(database);
  onTestFinished(async () => {
    await removeKeys(prefix);
    await place.remove();
  });
  const process = async (): Promise<ImpersonationHarness> => {
    const stores = redisStores(SHARED_URL, { prefix });
    onTestFinished(() =>
      Promise.all([stores.durable.close(), stores.counters.close(), stores.bus.close()]).then(() => {}),
    );
    const users = userModel(place.open({ poolSize: 5 }), { bus: stores.bus });
    return impersonationHarness({ parts: { users, stores }, account: { onEvent: log.record } });
  };
  return { one: await process(), other: await process(), database };
}

it("acts and ends in every process, also on open sockets, and stores both ids", async () => {
  const { one, other, database } = await two();
  const { ids } = one;
  const sam = await one.login("sam");
  const again = await one.login("sam");
  const live = await liveClient(other.app);

  expect((await one.act(sam, "ann")).status).toBe(200);
  expect(await other.me(sam)).toMatchObject({ username: "ann", impersonator: ids.sam });
  const socket = await live.socket("/live", { headers: sam });
  expect(await socket.next()).toBe("ann");

  expect((await one.post("/logout/everywhere", {}, undefined, again)).status).toBe(204);
  expect((await socket.closed).code).toBe(4403);
  expect(await other.me(sam)).toMatchObject({ status: 401 });

  await vi.waitFor(async () => {
    const { rows } = await sql`select kind, user_id, actor_id from account_log where user_id = ${ids.ann}`.execute(
      database,
    );
    expect(rows).toEqual([{ kind: "impersonation_started", user_id: ids.ann, actor_id: ids.sam }]);
  }, 60_000);
});

it("begins once when two processes are asked at the same time", async () => {
  const { one, other } = await two();
  const sam = await one.login("sam");
  const answers = await Promise.all([one.act(sam, "ann"), other.act(sam, "ann"), one.act(sam, "ann")]);

  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(await other.me(sam)).toMatchObject({ username: "ann" });
});
