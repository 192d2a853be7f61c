import { assert, asyncModelRun, asyncProperty, commands, integer } from "fast-check";
import { manualClock, testClient } from "portico/testing";
import { expect, it } from "vitest";
import { RecordingStore } from "./recording-store.ts";
import { sessionApp } from "./session-app.ts";
import { happenings, type Model } from "./session-model.ts";

it("[REQ-13] [REQ-15] [REQ-16] [REQ-17] follows the model of the life cycle, through logins, logouts, revocations, clock moves and crashes, on two processes", async () => {
  await assert(
    asyncProperty(
      commands(happenings, { maxCommands: 40, size: "max" }),
      integer({ min: 0, max: 1_000_000 }),
      async (run, start) => {
        const clock = manualClock(start);
        const store = new RecordingStore({ clock });
        const processes = [0, 1].map(() => testClient(sessionApp({ durable: store, clock })));
        const model: Model = { now: start, known: [], jars: new Map() };
        await expect(asyncModelRun(() => ({ model, real: { clock, store, processes } }), run)).resolves.toBe(undefined);
      },
    ),
    { numRuns: 60 },
  );
});
