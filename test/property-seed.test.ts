import * as fc from "fast-check";
import { expect, it } from "vitest";
import { propertySeed } from "../lab/seeds/property-seed.ts";

const isSmall = (number: number): void => {
  if (number > 2) throw new Error(`${number} is above 2`);
};

it("is fixed without PORTICO_SEED, and the given number with it", () => {
  expect(propertySeed("")).toBe(20_261_117);
  expect(propertySeed("7")).toBe(7);
});

it.each(["seven", "-1", "1.5", "2147483648", " 7"])("refuses %j", (given) => {
  expect(() => propertySeed(given)).toThrow(`a seed is a whole number from 0 to 2147483647, not ${given}`);
});

it("is the seed of fast-check", () => {
  const seen = [1, 2].map(() => {
    const numbers: number[] = [];
    fc.assert(fc.property(fc.nat(), (number) => void numbers.push(number)));
    return numbers;
  });

  expect(fc.readConfigureGlobal().seed).toBe(propertySeed());
  expect(seen[0]).toEqual(seen[1]);
  expect(new Set(seen[0]).size).toBeGreaterThan(10);
});

it("is at the end of a failure's message", async () => {
  const sentence = new RegExp(`Property failed after [^]*\\n\\nRepeat it with PORTICO_SEED=${propertySeed()}$`);

  expect(() => fc.assert(fc.property(fc.nat(), isSmall))).toThrow(sentence);
  await expect(fc.assert(fc.asyncProperty(fc.nat(), async (number) => isSmall(number)))).rejects.toThrow(sentence);
});
