import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import * as fc from "fast-check";
import { PorticoApp } from "portico";
import { PasswordHasher } from "portico/auth";
import { liveClient } from "portico/testing";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { HashQueue, HashSlots } from "../../../src/auth/passwords/hash-queue.ts";
import { overBoth } from "../../matrix.ts";
import { loginApp } from "./login-app.ts";
import { type ObservedHashing, observeHashing } from "./observed-hashing.ts";
import { PASSWORD } from "./old-hashes.ts";

let hashing: ObservedHashing;
beforeEach(() => {
  hashing = observeHashing();
});
afterEach(() => hashing.stop());

describe("a burst of logins", () => {
  overBoth(
    "[REQ-28] never has more than two hashes running with four threads, and all the others wait",
    () => loginApp(new Map(), { accepts: ["scrypt"] }),
    async (client) => {
      expect(process.env["UV_THREADPOOL_SIZE"]).toBe(undefined);

      const answers = await Promise.all(
        Array.from({ length: 30 }, () => client.post("/login", { body: { name: "nobody", password: PASSWORD } })),
      );

      expect(answers.every(({ status }) => status === 401)).toBe(true);
      expect([hashing.most, hashing.calls.length]).toEqual([2, 60]);
    },
  );

  overBoth(
    "[REQ-29] beyond the queue is answered 503 with Retry-After, and nothing is hashed for it",
    () => loginApp(new Map(), { maxWaiting: 3 }),
    async (client) => {
      const answers = await Promise.all(
        Array.from({ length: 12 }, () => client.post("/login", { body: { name: "nobody", password: PASSWORD } })),
      );
      const refused = answers.filter(({ status }) => status === 503);

      expect(answers.every(({ status }) => status === 401 || status === 503)).toBe(true);
      expect(refused.length).toBeGreaterThan(0);
      expect(hashing.calls.length).toBe(12 - refused.length);
      for (const { headers } of refused) expect(headers["retry-after"]).toBe("1");
      const later = await client.post("/login", { body: { name: "nobody", password: PASSWORD } });
      expect(later.status).toBe(401);
    },
  );
});

it("verifies no password whose client has disconnected while it waited", async () => {
  const signals: AbortSignal[] = [];
  const passwords = new PasswordHasher();
  const app = new PorticoApp({ logger: false }).post("/login", async ({ request: { signal } }) => {
    signals.push(signal);
    return passwords.verify(PASSWORD, null);
  });
  const live = await liveClient(app);
  onTestFinished(() => live.close());
  const held = Promise.withResolvers<void>();
  const slots = [1, 2].map(() => new HashQueue(0).run(() => held.promise));
  const login = (): ClientRequest => request({ port: live.port, path: "/login", method: "POST" }).end();
  const answered = once(login(), "response");
  const leaving = Array.from({ length: 7 }, login);
  await vi.waitFor(() => expect(signals).toHaveLength(8), 60_000);

  for (const sent of leaving) sent.on("error", () => {}).destroy();
  await vi.waitFor(() => expect(signals.filter(({ aborted }) => aborted)).toHaveLength(7), 60_000);
  held.resolve();
  await Promise.all(slots);

  const [{ statusCode }] = (await answered) as [IncomingMessage];
  expect([statusCode, hashing.calls]).toEqual([200, ["argon2.verify"]]);
});

it("all hashers of a process share one limit, which leaves threads for files", async () => {
  const hashers = Array.from({ length: 4 }, () => new PasswordHasher());

  const hashes = Promise.all(hashers.flatMap((hasher) => [1, 2, 3].map(() => hasher.hash(PASSWORD))));
  const isFirst = await Promise.race([hashes.then(() => "hashes"), readdir(".").then(() => "files")]);
  await hashes;

  expect([hashing.most, hashing.calls.length, isFirst]).toEqual([2, 12, "files"]);
});

it("parallel calls fill exactly the slots and the queue", async () => {
  const hasher = new PasswordHasher({ maxWaiting: 5 });

  const results = await Promise.allSettled(Array.from({ length: 20 }, () => hasher.hash(PASSWORD)));

  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(2 + 5);
  expect(results.slice(0, 7).every(({ status }) => status === "fulfilled")).toBe(true);
});

it("in any order, never more than the limit run, and every accepted call runs once", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.integer({ min: 0, max: 6 }), { minLength: 1, maxLength: 3 }),
      fc.array(fc.record({ queue: fc.nat(), fails: fc.boolean() }), { maxLength: 25 }),
      async (scheduler, size, bounds, jobs) => {
        const slots = new HashSlots(size);
        const queues = bounds.map((maxWaiting) => new HashQueue(maxWaiting, slots));
        const [ran, refused]: [number[], number[]] = [[], []];
        let [running, most] = [0, 0];
        const start = async (index: number, fails: boolean, queue: HashQueue): Promise<void> => {
          const work = async (): Promise<void> => {
            ran.push(index);
            most = Math.max(most, ++running);
            await scheduler.schedule(Promise.resolve(), `work ${index}`);
            running--;
            if (fails) throw new Error("failed");
          };
          await queue.run(work).catch((error: { status?: number }) => {
            if (error.status === 503) refused.push(index);
            else if (!fails) throw error;
          });
        };

        const all = jobs.map(({ queue, fails }, index) =>
          scheduler
            .schedule(Promise.resolve(), `start ${index}`)
            .then(() => start(index, fails, queues[queue % queues.length] as HashQueue)),
        );
        await scheduler.waitFor(Promise.all(all));

        expect(most).toBeLessThanOrEqual(size);
        expect([...ran, ...refused].toSorted((a, b) => a - b)).toEqual(jobs.map((_, index) => index));
        expect([running, slots.areFree]).toEqual([0, true]);
      },
    ),
    { numRuns: 200 },
  );
});
