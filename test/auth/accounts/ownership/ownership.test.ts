import { expect, it, vi } from "vitest";
import { runSequence } from "./ownership-model.ts";
import { OwnershipWorld } from "./ownership-world.ts";

/** PORTICO_LONG=1 runs 50,000 sequences. */
const isLong = process.env["PORTICO_LONG"] === "1";
const COUNT = isLong ? 50_000 : 300;
/** The accounts of one application, so that memory and limits start anew. */
const PER_WORLD = 100;
const SEED = Number(process.env["PORTICO_SEED"] ?? 40);

/** Numbers from 0 to 1, the same for the same seed. */
function sequence(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

it(
  "neither a stranger without the mailbox nor a thief with only the mailbox gets into the account of its owner",
  async () => {
    // The earlier release has no mailer, and prints its emails.
    const print = vi.spyOn(process.stdout, "write").mockReturnValue(true);
    const violations: string[] = [];
    let [owned, withFactor] = [0, 0];
    for (let first = 0; first < COUNT; first += PER_WORLD) {
      const world = new OwnershipWorld();
      for (let number = first; number < first + PER_WORLD; number++) {
        const outcome = await runSequence(world, number, sequence(SEED * 1_000_003 + number));
        if (outcome.fault !== null) violations.push(`${number}: ${outcome.fault} after ${outcome.taken.join(", ")}`);
        if (outcome.isOwned) owned++;
        if (outcome.hasFactor) withFactor++;
      }
      await world.close();
      // Vitest keeps what was printed.
      print.mockClear();
    }

    print.mockRestore();
    expect(violations).toEqual([]);
    // The sequences reach the states that they are about.
    expect(owned).toBeGreaterThan(COUNT / 4);
    expect(withFactor).toBeGreaterThan(COUNT / 30);
  },
  isLong ? 7_200_000 : 240_000,
);
