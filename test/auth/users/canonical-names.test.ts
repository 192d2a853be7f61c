import { canonicalName } from "portico/auth";
import { describe, expect, it } from "vitest";

describe("the canonical form of a name", () => {
  it.each([
    [" Ann@Example.org ", "ann@example.org"],
    ["ＡＮＮ", "ann"],
    ["Ann\u0301", "anń".normalize("NFKC")],
    ["ann@xn--bcher-kva.example", "ann@bücher.example"],
    ["ann@shop.XN--BCHER-KVA.example", "ann@shop.bücher.example"],
    ["xn--bcher-kva.example", "xn--bcher-kva.example"],
    ["xn--bcher-kva@example.org", "xn--bcher-kva@example.org"],
    ["ann@xn--bcher-kva_x.example", "ann@xn--bcher-kva_x.example"],
    ["ann@xn--99999999.example", "ann@xn--99999999.example"],
    ["a@b@xn--bcher-kva.example", "a@b@bücher.example"],
  ])("of %j is %j", (name, canonical) => {
    expect(canonicalName(name)).toBe(canonical);
  });

  it("of a text that is too long, or has too many marks, is the text itself", () => {
    const long = "A".repeat(1_016);
    const marked = `A${"\u0315".repeat(31)}`;
    const domain = `${"a.".repeat(120)}xn--bcher-kva`;

    expect([canonicalName(long), canonicalName(`${long}A`)]).toEqual([long.toLowerCase(), `${long}A`]);
    expect(canonicalName(marked)).toBe(marked);
    expect(canonicalName(`ann@${domain}`)).toBe(`ann@${"a.".repeat(120)}bücher`);
    expect(canonicalName(`ann@a${domain}`)).toBe(`ann@a${domain}`);
  });
});
