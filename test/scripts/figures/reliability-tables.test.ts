import { expect, it } from "vitest";
import { overloadPlot } from "../../../lab/bench/overload/plot.ts";
import { type ReliabilityResults, reliabilityTables } from "../../../lab/figures/reliability-tables.ts";

const traffic = {
  goodput: 900,
  p90Ms: 80,
  p99Ms: 95,
  outcomes: { 200: 900, 503: 1_800 },
  withoutRetryAfter: 0,
  perSecond: [900],
  clientDelayMs: 12,
};
const results: ReliabilityResults = {
  node: "v24.21.0",
  faults: {
    day: "2026-11-16",
    seconds: 60,
    injected: { "kill Redis": 3, "silence PostgreSQL": 2 },
    actions: 4_000,
    statuses: { 200: 3_000 },
    documented: { 503: 900 },
    unexpected: 0,
    writes: { acknowledged: 1_200, unsure: 90, refused: 30, unsureDone: 4, lost: 0, repeated: 0, refusedDone: 0 },
    identities: { checked: 2_000, mistaken: 0, refused: 0 },
    recoveredMs: 1_640,
    violations: [],
    quiet: { seconds: 60.4, starvedShare: 0.21 },
  },
  fuzz: { day: "2026-11-17", inputs: 20_000, seconds: 60, failures: 0 },
  overload: {
    day: "2026-11-18",
    share: 0.93,
    limit: 0.8,
    routes: { "/plain": { peak: traffic, during: traffic, after: traffic } },
  },
};

it("shows what was tried, how often and what was lost", () => {
  const text = reliabilityTables(results);
  expect(text).toContain("| Node 24.21.0 | How often | Lost or wrong |");
  expect(text).toContain("The faults took 1 minutes on 2026-11-16");
  expect(text).toContain("the fuzzing 1 minutes on 2026-11-17");
  expect(text).toContain("| Requests on 2026-11-18 |");
  expect(text).toContain("| 5 | recovered 1.6 s after the last fault |");
  expect(text).toContain("| Acknowledged writes | 1,200 | 0 lost |");
  expect(text).toContain("the server waited for a core for 21% of the time");
  expect(text).toContain("| `/plain`, three times as many | 2,700 | 900 per second (100%) | 95 ms | 1,800 | 0 |");
  expect(text).toContain("- Injected 3 times each: kill Redis.\n- Injected 2 times each: silence PostgreSQL.");
  expect(text).toContain("No other check failed.");
});

it("shows losses", () => {
  const { faults } = results;
  const text = reliabilityTables({
    ...results,
    faults: {
      ...faults,
      writes: { ...faults.writes, lost: 2 },
      identities: { ...faults.identities, mistaken: 1 },
      recoveredMs: null,
      violations: ["2 acknowledged writes are lost, for example `1`"],
    },
  });
  expect(text).toContain("| 1,200 | 2 lost |");
  expect(text).toContain("| 2,000 | 1 name another user |");
  expect(text).toContain("**no recovery**");
  expect(text).toContain("- `2 acknowledged writes are lost, for example '1'`");
});

it("shows no overload of a route whose clients were late", () => {
  const late = { peak: traffic, during: { ...traffic, clientDelayMs: 900 }, after: traffic };
  const text = reliabilityTables({
    ...results,
    overload: { ...results.overload, routes: { ...results.overload.routes, "/page": late } },
  });
  expect(text).toContain("The overload of `/page` could not be measured");
  expect(text).toContain("`/plain`, three times as many");
  expect(text).not.toContain("`/page`, three times as many");
});

it("plots the successful responses as a share of the peak", () => {
  const flat = { ...traffic, perSecond: Array.from({ length: 60 }, () => 720) };
  const plot = overloadPlot({
    ...results.overload,
    routes: { "/plain": { peak: traffic, during: flat, after: traffic } },
  });
  const [, points = ""] = /<polyline points="([^"]+)"/.exec(plot) ?? [];
  const heights = points.split(" ").map((point) => point.split(",")[1]);
  const [, limit] = / y1="(\d+)" y2="\d+" stroke="#d1d5db" stroke-dasharray/.exec(plot) ?? [];
  expect(heights).toEqual(Array.from({ length: 20 }, () => limit));
  expect(plot).toContain(">/plain</text>");
});
