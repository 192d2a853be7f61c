import { describe, expect, it } from "vitest";
import { Demand } from "../../../src/kernel/load/demand.ts";

/** What a server with this many responses per sample sees; now and then it does nothing for a sample. */
function simulate(
  perSample: number,
  samples: number,
  arrivals: (ended: number, rejected: number) => number,
  most = Number.POSITIVE_INFINITY,
  ownShare = 1,
) {
  const demand = new Demand();
  const excess: boolean[] = [];
  let [open, ended, rejected] = [0, 0, 0];
  for (let sample = 0; sample < samples; sample++) {
    const arrived = arrivals(ended, rejected);
    const taken = Math.min(arrived, Math.max(0, most - open));
    rejected = arrived - taken;
    for (let count = 0; count < arrived; count++) demand.arrive();
    for (let count = 0; count < rejected; count++) demand.reject();
    open += taken;
    ended = sample % 7 === 3 ? 0 : Math.min(open, perSample);
    open -= ended;
    excess.push(demand.sample(open, ownShare, 100));
  }
  return excess;
}

/** As many clients, each of which sends a request after its last response. */
function closedLoop(clients: number) {
  let isFirst = true;
  return (ended: number): number => {
    const arrived = isFirst ? clients : ended;
    isFirst = false;
    return arrived;
  };
}

describe("the demand", () => {
  it.each([8, 32, 256, 2_000])(
    "of %i clients that wait for their responses exceeds the supply for half a second at most",
    (clients) => {
      for (const perSample of [1, 10, 50, 100])
        expect(simulate(perSample, 600, closedLoop(clients)).slice(5)).not.toContain(true);
    },
  );

  it.each([3, 7])("of %i times as many requests exceeds it within a second, and until it ends", (times) => {
    for (const most of [50, 500]) {
      const excess = simulate(50, 600, () => 50 * times, most);
      expect(excess.slice(10)).not.toContain(false);
    }
  });

  it("of twice as many requests exceeds it as long as most of the rest are rejected", () => {
    // A tenth of a second of requests wait.
    expect(simulate(50, 600, () => 100, 60).slice(30)).not.toContain(false);
  });

  it("of three times as many requests exceeds it within a second of its own time, however much the host takes", () => {
    for (const ownShare of [1 / 2, 1 / 3]) {
      // As many requests are accepted as end within a second of that time.
      const perSample = 50 * ownShare;
      const excess = simulate(perSample, 600, () => 3 * perSample, 500, ownShare);
      expect(excess.slice(10 / ownShare)).not.toContain(false);
    }
  });

  it("does not exceed it any more half a second after the last rejection", () => {
    let sample = 0;
    const excess = simulate(50, 100, () => (sample++ < 50 ? 150 : 25), 100);

    expect(excess.lastIndexOf(true)).toBeLessThan(56);
  });
});
