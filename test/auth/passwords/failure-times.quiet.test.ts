import { hash as bcryptHash, verify as bcryptVerify } from "@node-rs/bcrypt";
import { PasswordHasher } from "portico/auth";
import { expect, it } from "vitest";

// So many that chance alone moves the result by a third of what is allowed.
const PAIRS = 150;

it("the timing does not reveal whether a password is wrong, the user is unknown or has an old hash", async () => {
  const hasher = new PasswordHasher({ accepts: ["bcrypt"], legacyCosts: { bcrypt: 6 } });
  const own = await hasher.hash("the right password");
  const old = await bcryptHash("the right password", { cost: 6 });
  const fail = (stored: string | null) => () => hasher.verify("a wrong password", stored);

  expect(await bestOfThree(fail(null), fail(own))).toBeLessThan(0.1);
  expect(await bestOfThree(fail(null), fail(old))).toBeLessThan(0.1);
  // The measurement sees what it is there to see: no dummy at all, and none beside the stored hash.
  expect(await distance(fail(null), async () => false)).toBeGreaterThan(0.4);
  expect(await distance(fail(null), () => bcryptVerify("a wrong password", old))).toBeGreaterThan(0.4);
});

async function bestOfThree(a: () => Promise<unknown>, b: () => Promise<unknown>): Promise<number> {
  let best = 1;
  for (let round = 0; round < 3 && best >= 0.1; round++) best = Math.min(best, await distance(a, b));
  return best;
}

/** How far the chance that one takes longer than the other is from one half: 0 is indistinguishable, 0.5 always distinguishable. */
async function distance(a: () => Promise<unknown>, b: () => Promise<unknown>): Promise<number> {
  const times: [number[], number[]] = [[], []];
  for (let pair = 0; pair < PAIRS; pair++) {
    const order = Math.random() < 0.5 ? ([0, 1] as const) : ([1, 0] as const);
    for (const which of order) {
      const start = performance.now();
      await (which === 0 ? a() : b());
      times[which].push(performance.now() - start);
    }
  }
  const [first, second] = times;
  const wins = first.map((x) => second.filter((y) => x > y).length + second.filter((y) => x === y).length / 2);
  return Math.abs(wins.reduce((sum, count) => sum + count, 0) / (PAIRS * PAIRS) - 0.5);
}
