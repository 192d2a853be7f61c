import { expect, it } from "vitest";
import { LIMITS, limitsOf, needsOf, type Parts } from "../../../lab/bench/scale/capacity.ts";
import type { SimulationResults } from "../../../lab/bench/simulate.ts";
import { lineChart } from "../../../lab/figures/line-chart.ts";
import { scalingPlot } from "../../../lab/figures/scaling-tables.ts";
import { read } from "../../../scripts/package/repository.ts";

const parts: Parts = {
  kinds: [
    { kind: "open route", share: 75, node: 100, redis: 0, postgres: 0 },
    { kind: "route by session", share: 25, node: 500, redis: 40, postgres: 200 },
  ],
  sessionBytes: 1_000,
  userBytes: 2_000,
  socketBytes: 10_000,
  messageMicros: 10,
};

it("computes what a million users need from the cost of each part", () => {
  const needs = needsOf(parts, 1_000_000);

  expect(needs.requestsPerSecond).toBeCloseTo((1e6 * 0.1 * 100 * 3) / 86_400);
  // 200 µs for the average request, and 20,000 sockets with two events a minute.
  expect(needs.node).toBeCloseTo(needs.requestsPerSecond * 200e-6 + ((20_000 * 2) / 60) * 10e-6);
  expect(needs.redis).toBeCloseTo(needs.requestsPerSecond * 10e-6);
  expect(needs.postgres).toBeCloseTo(needs.requestsPerSecond * 50e-6);
  expect(needs).toMatchObject({ sockets: 20_000, processes: 1, redisBytes: 1e8, postgresBytes: 2e9 });
});

it("needs more processes when the memory of their sockets is full before their CPU", () => {
  const { processes, node } = needsOf({ ...parts, socketBytes: 1_000_000 }, 1_000_000);

  expect(node).toBeLessThan(LIMITS.load);
  expect(processes).toBe(Math.ceil(2e10 / LIMITS.processBytes));
});

it("names the limits in the order in which they are reached, each at the users that reach it", () => {
  const limits = limitsOf(parts);
  const cpu = limits.find(({ reached }) => reached.startsWith("the CPU of one process"));

  expect(limits.map(({ users }) => users)).toEqual(limits.map(({ users }) => users).toSorted((a, b) => a - b));
  expect(needsOf(parts, cpu?.users ?? 0).node).toBeCloseTo(LIMITS.load);
});

it("draws ten times as much by the same distance, on both axes", () => {
  const picture = lineChart({ title: "Cores", x: [1, 10, 100], lines: [{ name: "Node", values: [1, 10, 100] }] });
  const points =
    /points="([^"]+)"/
      .exec(picture)?.[1]
      ?.split(" ")
      .map((point) => point.split(",").map(Number)) ?? [];
  const [[x0 = 0, y0 = 0] = [], [x1 = 0, y1 = 0] = [], [x2 = 0, y2 = 0] = []] = points;

  expect(x1 - x0).toBe(x2 - x1);
  expect(y0 - y1).toBe(y1 - y2);
});

it("has drawn the picture of the guide from the results", () => {
  const results = JSON.parse(read("lab/bench/results/simulation.json")) as SimulationResults;

  expect(read("lab/bench/results/simulation.svg")).toBe(scalingPlot(results));
});
