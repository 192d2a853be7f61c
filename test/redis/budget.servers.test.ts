import { once } from "node:events";
import { redisStores } from "portico/redis";
import { liveClient } from "portico/testing";
import { afterAll, expect, it, onTestFinished } from "vitest";
import { newPrefix, SHARED_URL } from "../../lab/servers/redis-server.ts";
import { budgetApp, quotaOf } from "../kernel/limits/budget-app.ts";
import { removeKeys } from "./remove-keys.ts";
import { runFixture } from "./second-process.ts";

const prefix = newPrefix();
afterAll(() => removeKeys(prefix));

/** An application with its own connections to the shared Redis. */
async function open(perMinute: number, place: string) {
  const stores = redisStores(SHARED_URL, { prefix: `${prefix}:${place}`, timeoutSeconds: 60 });
  const app = budgetApp({ stores, budget: { userPerMinute: perMinute, addressPerMinute: perMinute } });
  const client = await liveClient(app);
  onTestFinished(async () => {
    await client.close();
    await stores.close();
  });
  return client;
}

it("grants one caller of two applications on one Redis the whole budget and never more", async () => {
  const clients = [await open(60, "two"), await open(60, "two")] as const;
  const headers = { "x-user": "ann" };
  // 7, 1 and 3 units, none of which is refunded.
  const kinds = [
    { cost: 7, send: (n: number) => clients[n % 2]?.get("/report", { headers }) },
    { cost: 1, send: (n: number) => clients[n % 2]?.get("/", { headers }) },
    {
      cost: 3,
      send: (n: number) =>
        clients[n % 2]?.post("/graphql", { headers, body: { query: "{ a: hello b: hello c: hello }" } }),
    },
  ] as const;

  const sent = await Promise.all(
    Array.from({ length: 60 }, async (_, n) => {
      const { cost, send } = kinds[n % 3] as (typeof kinds)[number];
      return { cost, status: (await send(Math.floor(n / 3)))?.status };
    }),
  );

  const granted = sent.reduce((sum, { cost, status }) => sum + (status === 200 ? cost : 0), 0);
  expect(new Set(sent.map(({ status }) => status))).toEqual(new Set([200, 429]));
  const rest = await Promise.all(Array.from({ length: 8 }, async (_, n) => (await kinds[1].send(n))?.status));
  expect(granted + rest.filter((status) => status === 200).length).toBe(60);
});

it("refunds in the shared window what an operation did not use", async () => {
  const [north, south] = [await open(100, "refund"), await open(100, "refund")];
  const left = async () => quotaOf((await south.get("/", { headers: { "x-user": "ann" } })).headers).remaining;

  await north.post("/graphql", { headers: { "x-user": "ann" }, body: { query: "{ books(first: 50) { title } }" } });

  // 7 of 55 units were used. Each look takes one.
  let looks = 0;
  await expect.poll(async () => (await left()) + ++looks).toBe(93);
});

it("loses one reservation when a process is killed during an operation, and nothing blocks the caller", async () => {
  const survivor = await open(100, "killed");
  const child = runFixture("budget-process.ts", [SHARED_URL, `${prefix}:killed`, "100"]);
  const exited = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  const [{ port }] = (await once(child, "message")) as [{ readonly port: number }];
  const running = once(child, "message");
  const asked = fetch(`http://127.0.0.1:${port}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ query: "{ books { title } }" }),
  }).catch((error: unknown) => error);
  expect(await running).toEqual([{ isRunning: true }, undefined]);

  child.kill("SIGKILL");
  await exited;

  expect(await asked).toBeInstanceOf(Error);
  // The operation had reserved 25 units.
  expect(quotaOf((await survivor.get("/")).headers)).toEqual({ policy: "address", remaining: 74 });
});
