import { join } from "node:path";
import { expect, it } from "vitest";
import { runPortico } from "../cli/run-portico.ts";

const config = join(import.meta.dirname, "fixtures/gates.config.ts");

it("portico audit --attack prints nothing but its result", async () => {
  const { code, out } = await runPortico(["audit", "--attack", "--json", "--config", config]);
  const { attack } = JSON.parse(out) as { attack: { tried: number; differences: readonly { sentence: string }[] } };

  expect(code).toBe(0);
  expect(attack.tried).toBeGreaterThan(5);
  expect(attack.differences).toEqual([]);
});

it("portico audit --attack does not run in production", async () => {
  expect(
    await runPortico(["audit", "--attack", "--config", config], { env: { NODE_ENV: "production" } }),
  ).toMatchObject({ code: 1, out: "", err: expect.stringContaining("--attack is not for production") });
});
