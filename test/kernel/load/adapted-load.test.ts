import { testClient } from "portico/testing";
import { describe, expect, it, vi } from "vitest";
import { setLoad } from "./set-load.ts";

const signedIn = { cookie: "session=a" };

describe("the limit of requests in flight", () => {
  it("shrinks to three quarters when every query waits too long, and then grows by a twentieth each time", async () => {
    const { hold, query, measure, status } = await setLoad();
    hold(80);
    await query(2_001);
    const before = await status(signedIn);

    // At most 81 were in flight at once, so the limit is 60, then 63, 67, 71, 75, 79 and 83.
    const statuses: number[] = [];
    for (let count = 0; count < 7; count++) {
      measure();
      statuses.push(await status(signedIn));
    }

    expect(before).toBe(200);
    expect(statuses).toEqual([503, 503, 503, 503, 503, 503, 200]);
  });

  it("stays as it is while one query waits no longer than two seconds", async () => {
    const { hold, query, measure, status } = await setLoad();
    hold(80);

    await query(3_000, 2_000, 5_000);
    measure();

    expect(await status()).toBe(200);
  });

  it("shrinks from what was in flight since the last measurement", async () => {
    const { hold, query, measure, status } = await setLoad();
    hold(60);
    await query(2_001);
    measure();
    const statuses = [await status(signedIn)];

    // From 61 to 45, and up to 62 within seven measurements.
    measure(7);
    statuses.push(await status(signedIn));
    await query(2_001);
    measure();
    statuses.push(await status(signedIn));

    expect(statuses).toEqual([503, 200, 503]);
  });

  it("never falls below 32, and never exceeds maxInFlight", async () => {
    const { hold, query, measure, status } = await setLoad();
    hold(31);
    for (let count = 0; count < 3; count++) {
      await query(2_001);
      measure();
    }
    const statuses = [await status(signedIn)];

    hold(1);
    statuses.push(await status(signedIn));
    measure(40);
    hold(67);
    statuses.push(await status());
    hold(1);
    statuses.push(await status(signedIn));

    expect(statuses).toEqual([200, 503, 200, 503]);
  });

  it("also applies to the requests of the application itself, and to readiness", async () => {
    const { app, client, hold } = await setLoad();
    const statuses = async (): Promise<readonly number[]> => [
      (await testClient(app).get("/quick")).status,
      (await client.get("/readyz")).status,
    ];
    hold(98);
    const before = await statuses();
    hold(2);

    expect([before, await statuses()]).toEqual([
      [200, 200],
      [503, 503],
    ]);
  });

  it("leaves a fifth of it to requests with a credential, once it has shrunk", async () => {
    const { hold, query, measure, status } = await setLoad();
    hold(47);
    await query(2_001);
    const before = await status();
    // To 36, and then up to 60, of which requests without a credential may have 48.
    measure();
    const shrunk = [await status(), await status(signedIn)];
    measure(9);
    const grown = [await status(), (hold(1), await status()), await status(signedIn)];

    expect(before).toBe(200);
    expect(shrunk).toEqual([503, 503]);
    expect(grown).toEqual([200, 503, 200]);
  });

  it("shrinks when requests wait too long for their turn", async () => {
    const { hold, measure, status, together } = await setLoad();
    hold(80);
    await together([3, 2_001, 0]);
    const before = await status(signedIn);
    measure();

    expect([before, await status(signedIn)]).toEqual([200, 503]);
  });

  it("stays as it is when requests wait for their turn in a burst", async () => {
    const { hold, measure, status, together } = await setLoad();
    hold(80);
    await together([3, 1_997, 0]);
    measure();

    expect(await status()).toBe(200);
  });

  it("shrinks in an overload when every query waits for longer than maxWaitMs", async () => {
    const { overload, query, measure, status } = await setLoad({ maxInFlight: 10_000 });
    await overload();
    await query(100);
    measure();
    const before = await status(signedIn);
    await query(101);
    measure();

    expect([before, await status(signedIn)]).toEqual([200, 503]);
  });
});

describe("a request that waits for its turn", () => {
  it("is accepted within two seconds, however long the event loop is busy, while no more requests arrive than end", async () => {
    const { isBusyFor, hold, measure, together } = await setLoad({ maxInFlight: 10_000 });
    isBusyFor(1);
    hold(512);
    measure(50);

    expect(await together([3, 1_997, 0])).toEqual([200, 200, 200]);
  });

  it("is accepted within two seconds in a burst of half a second, however many arrive", async () => {
    const { isBusyFor, hold, measure, together } = await setLoad({ maxInFlight: 10_000 });
    isBusyFor(1);
    hold(1_000);
    measure(5);

    expect(await together([3, 400, 0])).toEqual([200, 200, 200]);
  });

  it("is accepted within two seconds in an overload, if the event loop was idle within the last half second", async () => {
    const { overload, isBusyFor, measure, together } = await setLoad({ maxInFlight: 10_000 });
    isBusyFor(0.95);
    await overload();
    isBusyFor(0.95);
    measure();

    expect(await together([3, 500, 0])).toEqual([200, 200, 200]);
  });

  it("is rejected after more than maxWaitMs in an overload", async () => {
    const { overload, together, rejections } = await setLoad({ maxInFlight: 10_000 });
    await overload();
    const late = await together([3, 101, 0]);
    const patient = await together([3, 97, 0]);

    expect([late, patient]).toEqual([
      [200, 200, 503],
      [200, 200, 200],
    ]);
    expect(await rejections()).toEqual({ wait: 1, "in-flight": 0, "event-loop": 0 });
  });

  it("has two seconds again as soon as no more requests arrive than end", async () => {
    const { overload, measure, together } = await setLoad({ maxInFlight: 10_000 });
    await overload();
    measure(5);

    expect(await together([3, 500, 0])).toEqual([200, 200, 200]);
  });

  it("is rejected on its arrival if at least 32 are before it and take too long", async () => {
    const { isBusyFor, pass, measure, together } = await setLoad();
    isBusyFor(1);
    measure();
    await together([0]);
    pass(499);
    measure();

    // One turn takes 599 ms. The pace of a few says little.
    const none = Array.from({ length: 34 }, () => 0);
    expect(await together([3, ...none])).toEqual([...none.slice(1).map(() => 200), 503, 503]);
  });

  it("is expected to wait for those that are served before it, not for those that are rejected", async () => {
    const { isBusyFor, measure, together } = await setLoad({ maxWaitMs: 2_000 });
    isBusyFor(1);
    // Of 72 turns in 2.1 seconds, two are served.
    await together([3, 2_001, ...Array.from({ length: 70 }, () => 0)]);
    measure();

    const none = Array.from({ length: 34 }, () => 0);
    expect(await together([3, ...none])).toEqual([...none.slice(1).map(() => 200), 503, 503]);
  });

  it("does not wait in the time that the host gives to others", async () => {
    const { hostTakes, measure, together } = await setLoad();
    hostTakes(0.5);
    measure(5);

    expect(await together([3, 3_997, 0])).toEqual([200, 200, 200]);
    expect(await together([3, 4_001, 0])).toEqual([200, 200, 503]);
  });

  it("is rejected after more than six seconds, however busy the host is", async () => {
    const { hostTakes, measure, together } = await setLoad();
    hostTakes(1);
    measure(5);

    expect(await together([3, 6_001, 0])).toEqual([200, 200, 503]);
  });

  it("is rejected after more than two seconds, also if the event loop was not measured meanwhile", async () => {
    const { together } = await setLoad();

    expect(await together([3, 2_000, 0])).toEqual([200, 200, 200]);
    expect(await together([3, 2_001, 0])).toEqual([200, 200, 503]);
  });

  it("has less time without a credential, once the limit of requests in flight has shrunk", async () => {
    const { hold, query, measure, together } = await setLoad();
    hold(10);
    await query(2_001);
    measure(2);

    expect(await together([3, 1_597, 0])).toEqual([200, 200, 200]);
    expect(await together([3, 1_601, 0])).toEqual([200, 200, 503]);
    expect(await together([3, 1_601, 0], "Authorization: Bearer a\r\n")).toEqual([200, 200, 200]);
  });

  it("is rejected at once while as many as maxInFlight wait for theirs", async () => {
    const { together } = await setLoad({ maxInFlight: 3 });

    expect(await together([3, 0, 0, 0, 0])).toEqual([200, 200, 200, 200, 503]);
  });
});

describe("the delay of the event loop", () => {
  it("rejects requests above maxEventLoopDelayMs, from the mean of half a second", async () => {
    const { isLateBy, measure, status, client } = await setLoad({ maxEventLoopDelayMs: 40 });
    const statuses: number[] = [];
    for (const [delay, times] of [
      [41, 4],
      [41, 1],
      [40, 4],
      [40, 1],
      [Number.NaN, 5],
    ] as const) {
      isLateBy(delay);
      measure(times);
      statuses.push(await status(), (await client.get("/readyz")).status);
    }

    expect(statuses).toEqual([200, 200, 503, 503, 503, 503, 200, 200, 200, 200]);
  });

  it("does not include the time that the host gives to others", async () => {
    const { hostTakes, isLateBy, measure, status } = await setLoad({ maxEventLoopDelayMs: 40 });
    hostTakes(0.5);
    isLateBy(80);
    measure(5);
    const within = await status();
    isLateBy(81);
    measure(5);

    expect([within, await status()]).toEqual([200, 503]);
  });

  it("is no longer measured after the application was closed", async () => {
    const { client } = await setLoad();
    const running = vi.getTimerCount();
    await client.close();

    expect([running > 0, vi.getTimerCount()]).toEqual([true, 0]);
  });
});

describe("load.report", () => {
  it("counts the requests that would be rejected by reason, and serves them", async () => {
    const { hold, isLateBy, measure, together, status, rejections, client } = await setLoad({
      maxInFlight: 10,
      maxEventLoopDelayMs: 40,
      report: true,
    });
    const waited = await together([3, 2_001, 0]);
    isLateBy(41);
    measure(5);
    const late = await status();
    hold(10);
    const full = [await status(), (await client.get("/readyz")).status];

    expect([waited, late, full]).toEqual([[200, 200, 200], 200, [200, 200]]);
    expect(await rejections()).toEqual({ wait: 1, "in-flight": 2, "event-loop": 1 });
  });
});

it("serves every request of a test over liveClient, unless the application has load options", async () => {
  const { together, isLateBy, measure, status, rejections } = await setLoad(null);
  const waited = await together([3, 2_001, 0]);
  isLateBy(1_001);
  measure(5);

  expect([waited, await status()]).toEqual([[200, 200, 200], 200]);
  expect(await rejections()).toEqual({ wait: 1, "in-flight": 0, "event-loop": 2 });
});
