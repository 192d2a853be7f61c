import { createRequire } from "node:module";
import { type LiveClient, liveClient } from "portico/testing";
import { afterEach, expect, it } from "vitest";
import { accountHarness } from "../account-harness.ts";

// flood.quiet.test.ts sends thousands, and measures the memory and the event loop.
const LOGINS = 200;
/** Half of libuv's threads hash. */
const HASHING = 2;
const WAITING = 64;

const argon2 = createRequire(import.meta.url)("@node-rs/argon2") as { verify: () => Promise<boolean> };
const { verify } = argon2;
let client: LiveClient;
let release: PromiseWithResolvers<void>;
afterEach(async () => {
  argon2.verify = verify;
  // The slots belong to the process, so a sign-in that still held one would fail the retry as well.
  release.resolve();
  await client?.close();
});

it(`[auth:AU-103] of ${LOGINS} sign-ins at once two are hashed and 64 wait, the rest get 503 with Retry-After, and other requests are answered`, async () => {
  release = Promise.withResolvers();
  const hashed = { running: 0, most: 0, calls: 0 };
  argon2.verify = async () => {
    hashed.calls++;
    hashed.most = Math.max(hashed.most, ++hashed.running);
    await release.promise;
    hashed.running--;
    return false;
  };
  // Load shedding would answer 503 as well.
  const { app } = accountHarness({ app: { health: { live: "/health" }, load: { report: true } } });
  client = await liveClient(app);
  const answers: { readonly status: number; readonly retryAfter: unknown }[] = [];
  const login = async (n: number): Promise<void> => {
    const { status, headers } = await client.post("/account/login", {
      body: { identifier: `user${n}`, password: "wrong password" },
      // Each has its own account and IP address, so that no rate limit prevents hashing.
      headers: { "x-forwarded-for": `10.0.${n >> 8}.${n & 255}` },
    });
    answers.push({ status, retryAfter: headers["retry-after"] });
  };

  const flood = Promise.all(Array.from({ length: LOGINS }, (_, n) => login(n)));
  await expect.poll(() => answers.length).toBe(LOGINS - HASHING - WAITING);

  expect(new Set(answers.map(({ status, retryAfter }) => `${status} ${String(retryAfter)}`))).toEqual(
    new Set(["503 1"]),
  );
  // The decoy that a sign-in of an unknown user is compared with is hashed first, which takes a while.
  await expect.poll(() => hashed).toEqual({ running: HASHING, most: HASHING, calls: HASHING });
  expect((await client.get("/health")).status).toBe(200);
  release.resolve();
  await flood;
  expect(answers.filter(({ status }) => status === 401)).toHaveLength(HASHING + WAITING);
  expect(hashed).toEqual({ running: 0, most: HASHING, calls: HASHING + WAITING });
});
