import { beforeEach, expect, it, vi } from "vitest";
import { FaultWindows, RECOVERY_MS } from "../../scripts/soak/faults/fault-windows.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance"] });
  return () => vi.useRealTimers();
});

it("knows the faults that overlap a request", () => {
  const windows = new FaultWindows();
  const before = performance.now();
  vi.advanceTimersByTime(10);
  windows.begin("clock");
  vi.advanceTimersByTime(10);
  const within = performance.now();
  windows.end();
  vi.advanceTimersByTime(10);
  const after = performance.now();

  expect([before, within, after].map((start) => [...windows.during(start)])).toEqual([["clock"], ["clock"], []]);
});

it("excuses an outage for a while after the fault", () => {
  const windows = new FaultWindows();
  windows.begin("redis");
  windows.end();

  vi.advanceTimersByTime(RECOVERY_MS);
  expect([...windows.since(performance.now())]).toEqual(["redis"]);
  vi.advanceTimersByTime(1);
  expect([...windows.since(performance.now())]).toEqual([]);
});
