import { beforeEach, expect, it, vi } from "vitest";
import { FaultWindows, RECOVERY_MS } from "../../../lab/soak/faults/fault-windows.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance"], now: 0 });
  return () => vi.useRealTimers();
});

it("knows the faults that overlap a request", () => {
  const windows = new FaultWindows();
  vi.advanceTimersByTime(10);
  windows.begin("clock");
  vi.advanceTimersByTime(10);
  windows.end();
  vi.advanceTimersByTime(10);

  expect([0, 20, 30].map((start) => [...windows.during(start)])).toEqual([["clock"], ["clock"], []]);
});

it("excuses an outage for a while after the fault", () => {
  const windows = new FaultWindows();
  windows.begin("redis");
  windows.end();

  vi.advanceTimersByTime(RECOVERY_MS);
  expect([...windows.since(RECOVERY_MS)]).toEqual(["redis"]);
  vi.advanceTimersByTime(1);
  expect([...windows.since(RECOVERY_MS + 1)]).toEqual([]);
});
