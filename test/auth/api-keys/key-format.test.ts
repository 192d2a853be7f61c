import { assert, constantFrom, integer, nat, oneof, property, string, tuple } from "fast-check";
import { expect, it } from "vitest";
import { makeKey, readKey } from "../../../src/auth/api-keys/api-key-text.ts";
import { ALPHABET, checksum } from "./checksum.ts";

const letter = constantFrom(...ALPHABET.split(""), "_", "-", " ", "\u0130");

it("reads every key that it creates, and no two are equal", () => {
  const keys = Array.from({ length: 2_000 }, () => makeKey());

  expect(keys.every((key) => readKey(key.text)?.id === key.id)).toBe(true);
  expect(keys.every(({ text }) => text.slice(-6) === checksum(text.slice(0, -6)))).toBe(true);
  expect(new Set(keys.map(({ text }) => text)).size).toBe(keys.length);
  expect(new Set(keys.map(({ id }) => id)).size).toBe(keys.length);
  // Each letter is as likely as any other: 43 * 2,000 / 62 of them, give or take a fifth.
  const secrets = keys.map(({ text }) => text.slice(16, -6)).join("");
  for (const each of ALPHABET) {
    const count = secrets.split(each).length - 1;
    expect(count).toBeGreaterThan(1_100);
    expect(count).toBeLessThan(1_675);
  }
});

it("rejects a key with a typo: a letter changed, missing, added, or two swapped", () => {
  const slip = tuple(constantFrom("change", "drop", "add", "swap"), nat(69), letter);

  assert(
    property(slip, ([kind, place, other]) => {
      const { text } = makeKey();
      const at = place % text.length;
      const [before, here, after] = [text.slice(0, at), text.charAt(at), text.slice(at + 1)];
      const slipped = {
        change: before + other + after,
        drop: before + after,
        add: before + other + here + after,
        swap: before + after.charAt(0) + here + after.slice(1),
      }[kind];
      expect(slipped === text || readKey(slipped) === null).toBe(true);
    }),
    { numRuns: 500 },
  );
});

it("rejects any other text without throwing", () => {
  const shaped = tuple(string({ unit: letter, maxLength: 13 }), string({ unit: letter, maxLength: 50 })).map(
    ([id, rest]) => `pk_${id}_${rest}`,
  );
  const wrongSum = tuple(nat(), integer({ min: 1, max: 61 })).map(([place, step]) => {
    const { text } = makeKey();
    const at = text.length - 1 - (place % 6);
    const other = ALPHABET.charAt((ALPHABET.indexOf(text.charAt(at)) + step) % 62);
    return text.slice(0, at) + other + text.slice(at + 1);
  });

  assert(
    property(oneof(string({ unit: "binary", maxLength: 100 }), shaped, wrongSum), (text) => {
      expect(readKey(text)).toBe(null);
    }),
    { numRuns: 500 },
  );
});
