import { PorticoApp, type PorticoAppOptions } from "portico";
import { logCatcher, testClient } from "portico/testing";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { overBoth } from "../../matrix.ts";
import { passTime, untilWithoutTime } from "../../pass-time.ts";

const build = (health?: PorticoAppOptions["health"]): PorticoApp =>
  new PorticoApp({ logger: false, ...(health === undefined ? {} : { health }) }).get("/books", () => []);

overBoth("livez and readyz say 200 while all is well", build, async (client) => {
  const answers = [await client.get("/livez"), await client.get("/readyz")];

  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect(answers.map((answer) => answer.json())).toEqual([{ status: "alive" }, { status: "ready", checks: {} }]);
  expect(answers[1]?.headers["cache-control"]).toBe("no-store");
});

overBoth(
  "readyz says which checks fail, never why, and livez does not ask them",
  () =>
    build({
      checks: {
        database: async () => "any value",
        queue: () => {
          throw new Error("s3cret address refused");
        },
        mail: () => Promise.reject(new Error("s3cret")),
        cache: () => undefined,
      },
    }),
  async (client) => {
    const ready = await client.get("/readyz");
    const live = await client.get("/livez");

    expect(ready.status).toBe(503);
    expect(ready.json()).toEqual({
      status: "not ready",
      checks: { database: "ok", queue: "failed", mail: "failed", cache: "ok" },
    });
    expect(ready.text()).not.toContain("s3cret");
    expect(live.status).toBe(200);
  },
);

it("checks run on every request, so readiness recovers", async () => {
  let isUp = false;
  const client = testClient(
    build({
      checks: {
        database: () => {
          if (!isUp) throw new Error("down");
        },
      },
    }),
  );

  const before = await client.get("/readyz");
  isUp = true;
  const after = await client.get("/readyz");

  expect([before.status, after.status]).toEqual([503, 200]);
});

it("a check that hangs fails after two seconds, and the others run in parallel", async () => {
  let asked = 0;
  const never = (): Promise<void> => {
    asked++;
    return new Promise(() => {});
  };
  const hanging = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`hanging ${n}`, never]));

  const client = testClient(build({ checks: { ...hanging, c: () => 1 } }));
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  let isAnswered = false;

  const answering = client.get("/readyz").finally(() => {
    isAnswered = true;
  });
  // One after the other, the second would be called when the first has failed.
  await untilWithoutTime(() => asked === 10);
  await passTime(1_999);
  expect(isAnswered).toBe(false);
  await passTime(1);
  const answer = await answering;

  expect(answer.json()).toMatchObject({ checks: { "hanging 0": "failed", "hanging 9": "failed", c: "ok" } });
});

it("requests at the same time share one call of each check", async () => {
  const waiting = Promise.withResolvers<void>();
  let calls = 0;
  const client = testClient(
    build({
      checks: {
        database: () => {
          calls++;
          return waiting.promise;
        },
      },
    }),
  );

  const answering = Array.from({ length: 300 }, () => client.get("/readyz"));
  await expect.poll(() => calls).toBe(1);
  waiting.resolve();
  const answers = await Promise.all(answering);
  const again = await client.get("/readyz");

  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect([again.status, calls]).toEqual([200, 2]);
});

it("a check that hangs is not called again for ten seconds, and fails at once meanwhile", async () => {
  let calls = 0;
  const database = (): Promise<void> => (++calls === 1 ? new Promise(() => {}) : Promise.resolve());
  const client = testClient(build({ checks: { database } }));
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());

  const first = client.get("/readyz");
  await untilWithoutTime(() => calls === 1);
  await passTime(2_000);
  const answers = [await first, await client.get("/readyz")];
  await passTime(7_999);
  answers.push(await client.get("/readyz"));
  const callsBefore = calls;
  await passTime(1);
  answers.push(await client.get("/readyz"));

  expect(answers.map(({ status }) => status)).toEqual([503, 503, 503, 200]);
  expect([callsBefore, calls]).toEqual([1, 2]);
});

describe("the routes", () => {
  it("may have other paths", async () => {
    const client = testClient(build({ live: "/health/live", ready: "/health/ready" }));

    const paths = ["/health/live", "/health/ready", "/livez", "/readyz"];
    const answers = await Promise.all(paths.map((path) => client.get(path)));

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 404, 404]);
  });

  it("are not there with health: false", async () => {
    const client = testClient(build(false));

    expect([(await client.get("/livez")).status, (await client.get("/readyz")).status]).toEqual([404, 404]);
  });

  it("are not in the OpenAPI document", () => {
    expect(Object.keys(build().openapi().paths)).toEqual(["/books"]);
  });

  it("log why a check fails when it begins to fail, and when it passes again, and nothing else", async () => {
    const log = logCatcher();
    let fault: Error | null = new Error("down");
    const queue = async (): Promise<void> => {
      if (fault !== null) throw fault;
    };
    const client = testClient(new PorticoApp({ logger: log, health: { checks: { queue, cache: () => {} } } }));

    for (const next of [fault, null, null, fault]) {
      await client.get("/readyz");
      await client.get("/livez");
      fault = next;
    }

    expect(log.lines).toMatchObject([
      { level: "warn", msg: "readiness check failed: queue", check: "queue", err: { message: "down" } },
      { level: "info", msg: "readiness check passes again: queue", check: "queue" },
    ]);
  });

  it.each([
    ["a number as path", { ready: 1 }, 'PorticoApp.health.ready must be a path that begins with "/", received 1'],
    ["a path without a slash", { live: "livez" }, 'PorticoApp.health.live must be a path that begins with "/"'],
    [
      "a check that is not a function",
      { checks: { db: true } },
      "PorticoApp.health.checks must be an object of functions",
    ],
    ["no checks", { checks: null }, "PorticoApp.health.checks must be an object of functions"],
    ["a check instead of checks", { checks: () => {} }, "PorticoApp.health.checks must be an object of functions"],
    ["a misspelt option", { reedy: "/r" }, 'PorticoApp.health: unknown option "reedy". Did you mean "ready"?'],
    ["true", true, "PorticoApp.health must be an object, or false, received true"],
  ])("reject %s", (_what, health, sentence) => {
    expect(() => build(health as never)).toThrow(sentence);
  });
});
