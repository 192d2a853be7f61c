import { afterAll, describe, expect, it } from "vitest";
import { allowedMs } from "../../allowed-ms.ts";
import { allReaders } from "./all-readers.ts";
import { cpuBySize } from "./cpu-by-size.ts";

/** The text is doubled three times. Each time the cost doubles, with room for noise; that of a quadratic reader is fourfold. */
const DOUBLINGS = 3;
const MAX_GROWTH: number = 2.6 ** DOUBLINGS;
/** Costs that differ by less are noise. */
const NOISE_MS = 1;
const MAX_MS = 20;

const { readers, close } = await allReaders();
afterAll(close);

describe(`${readers.length} entry points read hostile text in linear time`, () => {
  it.each(readers)("$name", async ({ most, mostMs = MAX_MS, texts, read, outcomes }) => {
    for (const text of texts) {
      const seen = new Set<number>();
      const sizes = [most / 2 ** DOUBLINGS, most];

      const costs = await cpuBySize(sizes.map(text).map((sent) => async () => void seen.add(await read(sent))));

      const [small, large] = costs as readonly [number, number];
      const shown = `${JSON.stringify(text(40))}: ${small.toFixed(2)} ms, then ${large.toFixed(2)} ms`;
      expect(outcomes, shown).toEqual(expect.arrayContaining([...seen]));
      expect(large, shown).toBeLessThan(allowedMs(mostMs));
      expect(large, shown).toBeLessThan(MAX_GROWTH * small + NOISE_MS);
    }
  });
});
