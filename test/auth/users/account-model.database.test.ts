import { assert, asyncModelRun, asyncProperty, commands } from "fast-check";
import { useAuth } from "portico/auth";
import { manualClock } from "portico/testing";
import { expect, it } from "vitest";
import { accountsIn, EVERYWHERE } from "../accounts/account-places.ts";
import { FakeProvider } from "../fake-provider.ts";
import { happenings, type Model, type Real } from "./account-model.ts";

accountsIn(
  EVERYWHERE.filter((name) => name !== "SQLite"),
  (_accounts, place) => {
    it("follow the model, through registrations, sign-ins, links, second factors and locks, on two processes", async () => {
      await assert(
        asyncProperty(commands(happenings, { maxCommands: 30, size: "max" }), async (run) => {
          await place().clear();
          const parts = place().parts();
          const clock = manualClock(Date.now());
          const processes = [0, 1].map(() => {
            const harness = _accounts({
              ...parts,
              account: { providers: [new FakeProvider("fake")], freshSeconds: 1_000_000_000 },
              app: { clock },
            });
            harness.app.get("/strong", { auth: useAuth({ level: "mfa" }) }, () => "strong");
            return harness;
          });
          const setup = (): { model: Model; real: Real } => ({
            model: { accounts: new Map(), sessions: [] },
            real: { clock, processes },
          });
          await expect(asyncModelRun(setup, run)).resolves.toBe(undefined);
        }),
        { numRuns: 15, endOnFailure: true },
      );
    });
  },
);
