import type { Stores } from "portico";
import { rotateRefreshToken, SimpleUser, TokenForUser } from "portico/auth";
import { redisStores } from "portico/redis";
import { sqlStores } from "portico/sql";
import { liveClient } from "portico/testing";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { newPrefix, SHARED_URL } from "../../lab/servers/redis-server.ts";
import { signIn } from "../sign-in.ts";
import { migratedPlace } from "../sql/accounts/databases.ts";
import { removeKeys } from "./remove-keys.ts";
import { shopApp } from "./shop-app.ts";

const DAY_MS = 86_400_000;
const SECRET = "a secret of the tests, which is long enough";

const PLACES: Readonly<Record<string, () => Promise<() => Stores>>> = {
  Redis: async () => {
    const prefix = newPrefix();
    onTestFinished(() => removeKeys(prefix));
    return () => redisStores(SHARED_URL, { prefix });
  },
  PostgreSQL: async () => {
    const place = await migratedPlace("PostgreSQL");
    onTestFinished(() => place.remove());
    return () => sqlStores(place.open({ poolSize: 2 }));
  },
};

/** Runs `work` as a process whose clock is off by this much. */
async function skewed<T>(byMs: number, work: () => Promise<T>): Promise<T> {
  const { now } = Date;
  const clock = vi.spyOn(Date, "now").mockImplementation(() => now() + byMs);
  try {
    return await work();
  } finally {
    clock.mockRestore();
  }
}

describe.each(Object.entries(PLACES))("a process with a wrong clock, stores in %s", (_name, place) => {
  it.each([
    ["10 minutes ahead", 600_000],
    ["10 minutes behind", -600_000],
    ["31 days ahead", 31 * DAY_MS],
    ["400 days behind", -400 * DAY_MS],
  ])("that is %s ends no session and no refresh token, and does not shorten them", async (_off, byMs) => {
    const stores = (await place())();
    const client = await liveClient(shopApp(stores));
    onTestFinished(() => client.close());
    const { cookie } = await signIn(client, "/login/ann");
    const who = async () => (await client.get("/me", { headers: { cookie } })).status;
    const options = { secret: SECRET, refreshStore: stores.durable };
    const { refresh_token: first } = await new TokenForUser(new SimpleUser("ann"), options).tokenPair();

    const during: number[] = [];
    const second = await skewed(byMs, async () => {
      during.push(await who(), await who());
      return (await rotateRefreshToken(first, SimpleUser, options)).refresh_token;
    });
    for (let turn = 0; turn < 6; turn++) {
      during.push(await who());
      await skewed(byMs, async () => during.push(await who()));
    }
    const third = await rotateRefreshToken(second, SimpleUser, options);

    expect(new Set(during)).toEqual(new Set([200]));
    expect(third.refresh_token).toBeTypeOf("string");
  });

  it("starts a session that lasts as long as any other", async () => {
    const client = await liveClient(shopApp((await place())()));
    onTestFinished(() => client.close());

    const { cookie } = await skewed(-DAY_MS, () => signIn(client, "/login/ann"));

    expect((await client.get("/me", { headers: { cookie } })).status).toBe(200);
  });

  it("is not ready while its clock is more than a minute off, and is ready again after that", async () => {
    const client = await liveClient(shopApp((await place())()));
    onTestFinished(() => client.close());
    const ready = async () => {
      const answer = await client.get("/readyz");
      return [answer.status, (answer.json() as { checks: Record<string, string> }).checks["durable"]];
    };

    expect(await ready()).toEqual([200, "ok"]);
    expect(await skewed(30_000, ready)).toEqual([200, "ok"]);
    expect(await skewed(90_000, ready)).toEqual([503, "failed"]);
    expect(await skewed(-90_000, ready)).toEqual([503, "failed"]);
    expect(await ready()).toEqual([200, "ok"]);
  });

  it("does not start, and logs how far its clock is off", async () => {
    const open = await place();

    await expect(skewed(600_000, () => shopApp(open()).inject("/me"))).rejects.toThrow(
      /^PorticoApp\.stores\.durable has a clock that is (?:599|600|601) seconds behind this process: synchronize both/,
    );
    const app = shopApp(open());
    onTestFinished(() => app.close());
    expect((await app.inject("/me")).status).toBe(401);
  });
});
