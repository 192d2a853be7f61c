import { createRequire } from "node:module";
import { afterAll, describe, expect, it } from "vitest";
import { threadCpuMs } from "../../thread-cpu-ms.ts";
import { allReaders } from "./all-readers.ts";

/** A body of this size is enough: a quadratic reader needs seconds for it. */
const MAX = 2 ** 16;
/** A long text and its parts hold the same number of characters, so a linear reader takes the same time for both. */
const PARTS = 8;
/** A quadratic reader takes eight times as long for the long text. */
const MAX_GROWTH = 3;
/** Three steps of the kernel's clock. */
const NOISE_MS = 12;
/** The compiler and the garbage collector add to some rounds, and nothing takes away from one. */
const ROUNDS = 3;

const { readers, close } = await allReaders();
afterAll(close);
// Hashing reads the password in another thread, in equal time, and takes longer than all that is measured here.
const argon2 = createRequire(import.meta.url)("@node-rs/argon2") as Record<string, unknown>;
const hashing = { ...argon2 };
afterAll(() => Object.assign(argon2, hashing));
Object.assign(argon2, {
  verify: async () => false,
  hash: async () => "$argon2id$v=19$m=8,t=1,p=1$c2FsdHNhbHQ$aGFzaGhhc2g",
});

describe(`${readers.length} entry points take no longer for a long text than for its parts`, () => {
  it.each(readers)("$name", async ({ most, texts, read, outcomes }) => {
    const size = Math.min(most, MAX);
    for (const text of texts) {
      const seen = new Set<number>();
      const spend = async (sent: string, times: number): Promise<number> => {
        const before = threadCpuMs();
        for (let time = 0; time < times; time++) seen.add(await read(sent));
        return threadCpuMs() - before;
      };
      const [part, whole] = [text(size / PARTS), text(size)];

      let [parts, long] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
      for (let round = 0; round === 0 || (round < ROUNDS && long > MAX_GROWTH * parts + NOISE_MS); round++) {
        parts = Math.min(parts, await spend(part, PARTS));
        long = Math.min(long, await spend(whole, 1));
      }

      const shown = `${JSON.stringify(text(40))}: ${PARTS} parts ${parts} ms, the whole ${long} ms of CPU time`;
      expect(outcomes, shown).toEqual(expect.arrayContaining([...seen]));
      expect(long, shown).toBeLessThanOrEqual(MAX_GROWTH * parts + NOISE_MS);
    }
  });
});
