import { PorticoApp } from "portico";
import { manualClock, testClient } from "portico/testing";
import { expect, it } from "vitest";

it("stands still until it is advanced", async () => {
  const clock = manualClock(1_000);
  await new Promise((resolve) => setTimeout(resolve, 5));

  expect([clock.now(), clock.monotonic()]).toEqual([1_000, 0]);
  clock.advance(250);
  clock.advance(0);
  expect([clock.now(), clock.monotonic()]).toEqual([1_250, 250]);
});

it("starts in 1970 by default, and each clock is independent", () => {
  const [one, other] = [manualClock(), manualClock()];

  one.advance(5);

  expect([one.now(), other.now()]).toEqual([5, 0]);
});

it.each([-1, Number.NaN])("does not go back: %s", (ms) => {
  const clock = manualClock();

  expect(() => clock.advance(ms)).toThrow(RangeError);
  expect(clock.now()).toBe(0);
});

it("works as the clock of an app", async () => {
  const app = new PorticoApp({ logger: false, clock: manualClock() }).get("/", () => 1);

  expect((await testClient(app).get("/")).status).toBe(200);
});
