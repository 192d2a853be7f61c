import { topic } from "portico";
import { redisStores } from "portico/redis";
import { type LiveClient, liveClient } from "portico/testing";
import { afterEach, beforeEach, expect, it } from "vitest";
import { newPrefix, RedisServer } from "../../lab/servers/redis-server.ts";
import { signIn } from "../sign-in.ts";
import { type SecondProcess, secondProcess } from "./second-process.ts";
import { shopApp } from "./shop-app.ts";

const numbers = topic<number>("numbers");
let server: RedisServer;
let stores: ReturnType<typeof redisStores>;
let here: LiveClient;
let there: SecondProcess;
beforeEach(async () => {
  server = await RedisServer.start(["--appendonly", "yes"]);
  const prefix = newPrefix();
  stores = redisStores(server.url, { prefix });
  here = await liveClient(shopApp(stores));
  there = await secondProcess(server.url, prefix, numbers.name);
});
afterEach(async () => {
  await there.close();
  await here.close();
  await server.remove();
});

it("counts rate limits together in two processes on one Redis", async () => {
  const statuses: number[] = [];
  for (let n = 0; n < 6; n++) {
    statuses.push((await here.post("/orders")).status);
    statuses.push((await fetch(`http://127.0.0.1:${there.port}/orders`, { method: "POST" })).status);
  }

  expect(statuses).toEqual([...Array.from({ length: 10 }, () => 200), 429, 429]);
});

it("[auth:AU-068] applies a login, a logout and a revocation in another process immediately", async () => {
  const askThere = async (cookie: string): Promise<number> =>
    (await fetch(`http://127.0.0.1:${there.port}/me`, { headers: { cookie } })).status;

  for (let n = 0; n < 10; n++) {
    const { cookie } = await signIn(here, "/login/ann");
    expect(await askThere(cookie)).toBe(200);
    await here.post(n % 2 === 0 ? "/logout" : "/revoke-all", { headers: { cookie } });
    expect(await askThere(cookie)).toBe(401);
  }
});

it("delivers events from one process to another in order, and reports a gap", async () => {
  await Promise.all(Array.from({ length: 2_000 }, (_, n) => stores.bus.publish(numbers, n)));
  const inOrder = Array.from({ length: 2_000 }, (_, n) => n);
  await expect.poll(() => there.heard.length).toBe(2_000);
  expect(there.heard).toEqual(inOrder);

  await server.kill();
  await server.start();
  await expect.poll(() => there.heard.at(-1)).toBe(null);
  await expect
    .poll(async () => {
      await stores.bus.publish(numbers, 7).catch(() => {});
      return there.heard.at(-1);
    })
    .toBe(7);
});
