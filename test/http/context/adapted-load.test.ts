import { testClient } from "portico/testing";
import { describe, expect, it, vi } from "vitest";
import { setLoad } from "./set-load.ts";

const signedIn = { cookie: "session=a" };

describe("the limit of requests in flight", () => {
  it("shrinks to three quarters when every query waits too long, and then grows by a twentieth each time", async () => {
    const { hold, query, measure, status } = await setLoad();
    hold(80);
    await query(101);
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

  it("stays as it is while one query waits no longer than maxWaitMs", async () => {
    const { hold, query, measure, status } = await setLoad();
    hold(80);

    await query(500, 100, 5_000);
    measure();

    expect(await status()).toBe(200);
  });

  it("shrinks from what was in flight since the last measurement", async () => {
    const { hold, query, measure, status } = await setLoad();
    hold(60);
    await query(500);
    measure();
    const statuses = [await status(signedIn)];

    // From 61 to 45, and up to 62 within seven measurements.
    measure(7);
    statuses.push(await status(signedIn));
    await query(500);
    measure();
    statuses.push(await status(signedIn));

    expect(statuses).toEqual([503, 200, 503]);
  });

  it("never falls below 32, and never exceeds maxInFlight", async () => {
    const { hold, query, measure, status } = await setLoad();
    hold(31);
    for (let count = 0; count < 3; count++) {
      await query(500);
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
    await query(500);
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

  it("shrinks when requests wait too long for their turn while the event loop is saturated", async () => {
    const { hold, isBusyFor, measure, status, together } = await setLoad();
    hold(80);
    isBusyFor(0.96);
    measure(11);
    await together([3, 101, 0]);
    const before = await status(signedIn);
    measure();

    expect([before, await status(signedIn)]).toEqual([200, 503]);
  });

  it("stays as it is when requests wait for their turn in a burst, or not for long", async () => {
    const { hold, isBusyFor, measure, status, together } = await setLoad();
    hold(80);
    await together([3, 500, 0]);
    measure();
    const burst = await status();
    isBusyFor(0.96);
    measure(11);
    await together([3, 97, 0]);
    measure();

    expect([burst, await status()]).toEqual([200, 200]);
  });
});

describe("a request that waits for its turn", () => {
  it("is accepted, however long it waits, while the event loop was idle within the last second", async () => {
    const { isBusyFor, measure, together } = await setLoad();
    isBusyFor(0.96);
    measure(8);
    isBusyFor(0.95);
    measure();
    isBusyFor(0.96);
    measure(2);

    expect(await together([3, 500, 0])).toEqual([200, 200, 200]);
  });

  it("is rejected after more than maxWaitMs once the event loop was busy for more than a second", async () => {
    const { isBusyFor, measure, together, pass } = await setLoad();
    isBusyFor(0.96);
    // The third request is checked 110 ms later, exactly a second after the first busy measurement began.
    measure(8);
    pass(90);
    const inTime = await together([3, 107, 0]);
    const late = await together([3, 101, 0]);
    const patient = await together([3, 100, 0]);

    expect([inTime, late, patient]).toEqual([
      [200, 200, 200],
      [200, 200, 503],
      [200, 200, 200],
    ]);
  });

  it("is rejected after more than a second, also if the event loop was not measured meanwhile", async () => {
    const { together } = await setLoad();

    expect(await together([3, 1_000, 0])).toEqual([200, 200, 200]);
    expect(await together([3, 1_001, 0])).toEqual([200, 200, 503]);
  });

  it("has less time without a credential, once the limit of requests in flight has shrunk", async () => {
    const { isBusyFor, hold, query, measure, together } = await setLoad();
    hold(10);
    await query(500);
    isBusyFor(0.96);
    measure(11);

    expect(await together([3, 80, 0])).toEqual([200, 200, 200]);
    expect(await together([3, 81, 0])).toEqual([200, 200, 503]);
    expect(await together([3, 81, 0], "Authorization: Bearer a\r\n")).toEqual([200, 200, 200]);
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

  it("is no longer measured after the application was closed", async () => {
    const { client } = await setLoad();
    const running = vi.getTimerCount();
    await client.close();

    expect([running > 0, vi.getTimerCount()]).toEqual([true, 0]);
  });
});
