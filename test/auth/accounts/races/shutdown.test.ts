import { describe, expect, it } from "vitest";
import { accountHarness, ann } from "../account-harness.ts";

describe("shutdown", () => {
  it.each(["mailer", "onEvent"])("waits for work that goes on after the response: %s", async (option) => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const finished: string[] = [];
    const work = async (): Promise<void> => {
      await released;
      finished.push(option);
    };
    const { app, post } = accountHarness({ account: { [option]: work } });
    await post("/register", ann);
    await post("/password/reset", { email: ann.email });

    const closed = app.close().then(() => finished.push("closed"));
    setImmediate(release);
    await closed;

    expect([...new Set(finished)]).toEqual([option, "closed"]);
  });

  it("ends at its deadline, even if the work never does", async () => {
    const { app, post } = accountHarness({
      app: { shutdown: { deadlineSeconds: 1 } },
      account: { onEvent: () => new Promise(() => {}) },
    });
    await post("/register", ann);

    await expect(app.close()).resolves.toBeUndefined();
  });
});
