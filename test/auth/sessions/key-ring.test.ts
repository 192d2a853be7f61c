import { ConfigurationError } from "portico";
import { describe, expect, it } from "vitest";
import { KeyRing, secretsOf } from "../../../src/core/key-ring.ts";

const OLD = "the secret of last year, long enough";
const NEW = "the secret of this year, long enough";

describe("KeyRing", () => {
  it("signs with the first secret, and verifies with all of them", () => {
    const before = new KeyRing("x", "test", OLD);
    const during = new KeyRing("x", "test", [NEW, OLD]);
    const after = new KeyRing("x", "test", [NEW]);
    const signature = before.sign("text");

    expect(signature).toHaveLength(32);
    expect([before, during, after].map((ring) => ring.verify("text", signature))).toEqual(["newest", "older", null]);
    expect(after.verify("text", during.sign("text"))).toBe("newest");
  });

  it("rejects another text, and a changed, shorter, longer or empty signature", () => {
    const ring = new KeyRing("x", "test", OLD);
    const signature = ring.sign("text");
    const changed = Buffer.from(signature);
    changed[31] = (changed[31] as number) ^ 1;
    const others = [changed, signature.subarray(1), Buffer.concat([signature, Buffer.alloc(1)]), Buffer.alloc(0)];

    expect(ring.verify("texT", signature)).toBe(null);
    expect(others.map((other) => ring.verify("text", other))).toEqual([null, null, null, null]);
  });

  it("has other keys for another purpose, and the same for a secret in bytes", () => {
    const signature = new KeyRing("x", "test", OLD).sign("text");

    expect(new KeyRing("x", "other", OLD).verify("text", signature)).toBe(null);
    expect(new KeyRing("x", "test", Buffer.from(OLD)).verify("text", signature)).toBe("newest");
  });

  it.each([
    ["undefined", undefined],
    ["null", null],
    ["an empty string", ""],
    ["a string of 14 bytes", "a short secret"],
    ["a string of 14 bytes at [0]", ["a short secret"]],
    ["an array of 0", []],
    ["7 at [1]", [OLD, 7]],
    ["31 bytes", new Uint8Array(31)],
    ["an object (Object)", {}],
  ])("refuses %s without showing it", (received, secrets) => {
    expect(() => secretsOf("Some.option", secrets)).toThrow(
      new ConfigurationError(
        "Some.option",
        `must be a secret of at least 32 bytes, or a list of them, the newest first, received ${received}`,
      ),
    );
  });
});
